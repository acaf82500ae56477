/*
 * fork() as vfork(): the child uses the memory of its parent, whose thread waits until the child has become another program.
 * libuv, which calls fork() to start programs, changes two things in the child that the parent notices. It sets `environ`:
 * that is put back. It moves a file whose number is below the one that it gets in the child: so no test may start a program
 * with more than about 15 entries of `stdio` (libuv would abort).
 *
 * The child returns from here before the parent does, on the same stack. Its return address is therefore kept in a register.
 */
    .text
    .globl fork
    .type fork, @function
fork:
    endbr64
    movq environ@GOTPCREL(%rip), %r9
    movq (%r9), %r8
    popq %rdi
    movl $58, %eax
    syscall
    pushq %rdi
    testq %rax, %rax
    jz 1f
    movq %r8, (%r9)
    js 2f
1:  ret
2:  negq %rax
    subq $24, %rsp
    movq %rax, (%rsp)
    call __errno_location@PLT
    movq (%rsp), %rcx
    addq $24, %rsp
    movl %ecx, (%rax)
    movq $-1, %rax
    ret
    .size fork, .-fork
    .section .note.GNU-stack,"",@progbits
