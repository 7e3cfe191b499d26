/** Asks until the answer is yes; the limit only ends a test that would hang. @throws Error when it never is */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAtMs = Date.now() + 300_000
  while (!(await isSo())) {
    if (Date.now() > giveUpAtMs) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
