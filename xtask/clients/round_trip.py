"""Calls every tool through the official Python client, which checks answers against their schemas."""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters


async def round_trip(binary, mode):
    server = StdioServerParameters(command=binary, args=["mcp"], env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        listed = await client.list_tools()
        assert len(listed.tools) == 15, [tool.name for tool in listed.tools]

        async def ask(name, **arguments):
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, (name, answer.content)
            assert answer.structured_content is not None, name
            assert answer.content[0].text, name
            return answer.structured_content

        old = await ask("memory_capture", text=f"the {mode} harbour opens at nine")
        other = await ask("memory_capture", text=f"the {mode} crane is blue")
        ids = [old["record_id"], other["record_id"]]
        await ask("memory_reinforce", ids=ids)
        await ask("memory_contradict", id=ids[0], new_fact=f"the {mode} harbour opens at ten")
        found = await ask("memory_recall", cue=f"when does the {mode} harbour open")
        assert found["hits"][0]["literal_surface"] == f"the {mode} harbour opens at ten", found
        await ask("memory_recall_structural", structure_query={"TIER": "episodic"})
        await ask("memory_consolidate")
        await ask("profile_get_set", operation="get")
        await ask("profile_get_set", operation="set", knob="wake_depth", value="deep")
        await ask("curiosity_pending")
        await ask("schema_list")
        await ask("events_query", kind="s4_contradiction")
        await ask("topology")
        await ask("camouflaging_status")
        wrong = await client.call_tool("memory_recall", {"cue": 3})
        assert wrong.is_error, wrong
        many = [client.call_tool("memory_recall", {"cue": "harbour"}) for _ in range(20)]
        assert not any(answer.is_error for answer in await asyncio.gather(*many))
        resources = await client.list_resources()
        assert [str(r.uri) for r in resources.resources] == ["memory://project", "memory://recent"]
        templates = await client.list_resource_templates()
        assert templates.resource_templates[0].uri_template == "memory://memory/{id}", templates
        read = await client.read_resource(f"memory://memory/{ids[1]}")
        assert read.contents[0].text.endswith(f"the {mode} crane is blue"), read
        prompts = await client.list_prompts()
        assert [p.name for p in prompts.prompts] == ["recall", "remember", "forget"], prompts
        prompt = await client.get_prompt("recall", {"cue": f"{mode} crane"})
        assert f"the {mode} crane is blue" in prompt.messages[0].content.text, prompt
        print(f"  python, {mode}: protocol {client.protocol_version}, 15 tools, resources, prompts")


for mode in ["legacy", "auto", "2026-07-28"]:
    asyncio.run(round_trip(sys.argv[1], mode))
