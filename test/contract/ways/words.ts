let count = 0

/** Words that are new in this process. */
export const words = (): string => `these are contract words no ${++count}.`

/** Finds such words in a text. */
export const WORDS = /these are contract words no \d+\./
