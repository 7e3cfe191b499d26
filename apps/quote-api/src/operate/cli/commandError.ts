/** A command cannot be carried out as it was typed: exit code 2. `message` says what would be right. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandError'
  }
}
