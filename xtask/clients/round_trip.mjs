// Calls every tool through the official TypeScript client, which checks answers against their schemas.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const transport = new StdioClientTransport({
  command: process.argv[2],
  args: ["mcp"],
  env: process.env,
});
const client = new Client({ name: "round-trip", version: "1" });
await client.connect(transport);

const listed = await client.listTools();
assert.equal(listed.tools.length, 15);

async function ask(name, args = {}) {
  const answer = await client.callTool({ name, arguments: args });
  assert.ok(!answer.isError, `${name}: ${JSON.stringify(answer.content)}`);
  assert.ok(answer.structuredContent, name);
  return answer.structuredContent;
}

const old = await ask("memory_capture", { text: "the typescript harbour opens at nine" });
const other = await ask("memory_capture", { text: "the typescript crane is blue" });
await ask("memory_reinforce", { ids: [old.record_id, other.record_id] });
await ask("memory_contradict", { id: old.record_id, new_fact: "the typescript harbour opens at ten" });
const found = await ask("memory_recall", { cue: "when does the typescript harbour open" });
assert.equal(found.hits[0].literal_surface, "the typescript harbour opens at ten");
await ask("memory_recall_structural", { structure_query: { TIER: "episodic" } });
await ask("memory_consolidate");
await ask("profile_get_set", { operation: "get" });
await ask("profile_get_set", { operation: "set", knob: "wake_depth", value: "standard" });
await ask("curiosity_pending");
await ask("schema_list");
await ask("events_query", { kind: "s4_contradiction" });
await ask("topology");
await ask("camouflaging_status");
const wrong = await client.callTool({ name: "memory_recall", arguments: { cue: 3 } });
assert.ok(wrong.isError);
const resources = await client.listResources();
assert.deepEqual(resources.resources.map((r) => r.uri), ["memory://project", "memory://recent"]);
const templates = await client.listResourceTemplates();
assert.equal(templates.resourceTemplates[0].uriTemplate, "memory://memory/{id}");
const read = await client.readResource({ uri: `memory://memory/${other.record_id}` });
assert.ok(read.contents[0].text.endsWith("the typescript crane is blue"), read.contents[0].text);
await assert.rejects(client.readResource({ uri: "memory://nothing" }));
const prompts = await client.listPrompts();
assert.deepEqual(prompts.prompts.map((p) => p.name), ["recall", "remember", "forget"]);
const prompt = await client.getPrompt({ name: "recall", arguments: { cue: "typescript crane" } });
assert.match(prompt.messages[0].content.text, /the typescript crane is blue/);
console.log("  typescript: 15 tools, resources, prompts");
await client.close();
