export type WaitOptions = {
  /** Only ends a test that would hang. */
  readonly patienceMs?: number
  readonly pollMs?: number
  /** Details that the error adds to the awaited condition. */
  readonly circumstances?: () => Promise<string> | string
}

/**
 * Asks again and again until something is so. Unlike `expect.poll` it may run in tests that run beside each other.
 * The test runner knows a wait that ran out by the words of this error.
 * @param subject a clause: "it is signed"
 * @throws Error when it never is
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
