/** The only door of the kernel. */
export * from './memory.ts'
