let count = 0

/** Words that nobody said before, in any case of this process. */
export function words(): string {
  return `these are contract words no ${++count}.`
}

/** Finds such words in a text. */
export const WORDS = /these are contract words no \d+\./
