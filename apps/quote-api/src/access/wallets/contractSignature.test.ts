import type { JsonRpcClient } from '@causeway/rpc'
import { expect, test } from 'vitest'
import { createContractSignatures, SignatureChecksOverloadedError } from './contractSignature.ts'

const question = { wallet: '0x00', digest: new Uint8Array(32), signature: '0x' } as const

/** A client whose answers come when the test lets them. */
function heldClient() {
  const waiting: (() => void)[] = []
  const never = () => Promise.reject(new Error('not asked here'))
  const client: JsonRpcClient = {
    chainId: 'base',
    electorate: { voters: [], threshold: 1 },
    batch: never,
    request: never,
    poll: never,
    askEach: never,
    probeHeads: async () => {},
    health: () => [],
    sizes: () => [],
    trySizes: never,
    close: async () => {},
    agree: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve({ answers: [{ ok: true, result: '0x' }], agreeingEndpoints: [] }))
      }),
  }
  const release = () => {
    for (const answer of waiting.splice(0)) answer()
  }
  return { client, release }
}

test('eight questions run at once, the ninth caller is told to come back, and places become free', async () => {
  const { client, release } = heldClient()
  const signatures = createContractSignatures(client)
  const running = Array.from({ length: 8 }, () => signatures.isValid(question))
  await expect(signatures.isValid(question)).rejects.toThrow(SignatureChecksOverloadedError)
  release()
  expect(await Promise.all(running)).toEqual(Array(8).fill(false))
  const next = signatures.isValid(question)
  release()
  expect(await next).toBe(false)
})
