use a;

fn first() {
    work();

    done();
}

struct Ä;
