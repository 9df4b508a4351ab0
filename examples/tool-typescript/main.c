// TODO: say hello
int main(void) { return 1; } // TODO: 0
