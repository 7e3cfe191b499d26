import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import type { StoredOrder } from '../../src/requests/orders/storedOrder.ts'

export const orderMigrations = { name: 'quote_api', path: join(import.meta.dirname, '../../migrations') }

/** Bytes that only depend on their name, so that two processes agree about them. */
function bytesOf(name: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(`${name} ${index}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}

export function hexOf(name: string, length = 32): Hex {
  return `0x${bytesOf(name, length).toString('hex')}`
}

export function orderNamed(name: string, change: Partial<StoredOrder> = {}): StoredOrder {
  return {
    requestId: hexOf(`${name} request`),
    orderId: hexOf(`${name} order`),
    user: '0x8B5E4dB198FfC7f69f8F11F6592f682717dF1D92',
    recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
    originChainId: 8453,
    destinationChainId: 792703809,
    apiKeyId: 'abcdefghij',
    quoted: '{"amountIn":"115792089237316195423570985008687907853269984665640564039457584007913129639935"}',
    orderData: `{"version":"v1",  "salt":"1","name":${JSON.stringify(name)}}`,
    orderSignature: hexOf(`${name} signature`, 65),
    stepsDigest: bytesOf(`${name} steps`, 32),
    execution: undefined,
    expiresAtSeconds: 1_800_000_030,
    deadlineSeconds: 1_800_003_600,
    ...change,
  }
}
