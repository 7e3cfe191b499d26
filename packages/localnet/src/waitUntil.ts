export type WaitOptions = {
  /** Time after which the wait fails, so that a test does not hang. */
  readonly patienceMs?: number
  readonly pollMs?: number
  /** Details that the error adds to the awaited condition. */
  readonly circumstances?: () => Promise<string> | string
}

/**
 * Polls until a condition is true. Unlike `expect.poll` it works in tests that run concurrently.
 * The test runner recognises a wait that timed out by this error's message.
 * @param subject the condition as a clause: "it is signed"
 * @throws Error after `patienceMs`
 */
export async function waitUntil(
  subject: string,
  isSo: () => Promise<boolean> | boolean,
  { patienceMs = 100_000, pollMs = 50, circumstances = () => '' }: WaitOptions = {},
): Promise<void> {
  const giveUpAtMs = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > giveUpAtMs) {
      throw new Error(`it never came about that ${subject}\n${await circumstances()}`.trimEnd())
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
