import { generatePrivateKey } from 'viem/accounts'
import { expect } from 'vitest'
import { spawnService } from './serviceProcess.ts'

export type StartVariables = Readonly<Record<string, string>>

/** What starts of these tests are given and must not print. */
export const startSecrets = {
  privateKey: generatePrivateKey(),
  /** Of the first account of anvil and hardhat. */
  publishedKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  databasePassword: 'pw-d41d8cd98f',
  /** In the path of an endpoint. */
  endpoint: 'secret-6f1ed002ab',
  pepper: '9e27b1f0'.repeat(8),
} as const

/** Starts `main.ts`, which must end with 1, name these things and print no secret. */
export async function expectRefusedStart(variables: StartVariables, named: readonly string[]): Promise<void> {
  const service = spawnService(variables)
  const started = service.listening().then(
    () => 'it started',
    () => undefined,
  )
  const end = await Promise.race([service.ended, started])
  await service.stop()
  const output = service.output()
  expect(end, output).toEqual({ code: 1, signal: null })
  for (const name of named) expect(output).toContain(name)
  for (const secret of Object.values(startSecrets)) {
    expect(output).not.toContain(secret)
    expect(output).not.toContain(secret.slice(0, 20))
  }
  // What an operator must mend is a sentence, not a stack.
  expect(output).not.toMatch(/^\s+at .*\.ts:\d+/m)
}
