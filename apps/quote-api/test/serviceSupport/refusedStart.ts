import { generatePrivateKey } from 'viem/accounts'
import { expect } from 'vitest'
import { spawnService } from './serviceProcess.ts'

export type StartVariables = Readonly<Record<string, string>>

/** Secrets that the started processes get and must not print. */
export const startSecrets = {
  privateKey: generatePrivateKey(),
  /** Key of the first account of anvil and hardhat. */
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
  // An operator's mistake must be reported as a sentence, not as a stack trace.
  expect(output).not.toMatch(/^\s+at .*\.ts:\d+/m)
}
