/**
 * Asks again and again until it holds. The limit only ends a test that would hang; unlike `expect.poll`
 * it may run in tests that run beside each other.
 */
export async function waitUntil(holds: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAtMs = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > giveUpAtMs) throw new Error(`it never came about that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
