/** What is not done, in words for the person who asked; `field` says what of a form is meant. */
export class Refused extends Error {
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.name = 'Refused'
    this.field = field
  }
}

/** The words of a refusal. Anything else that was thrown is our fault and nobody's to read. */
export function wordsOf(error: unknown): string {
  return error instanceof Refused
    ? error.message
    : 'Something went wrong in the tracker. Load the page again and try once more.'
}
