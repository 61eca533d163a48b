// A precompiled header needs a program to belong to.
int main() { return 0; }
