import { type Hex, Secret } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRawKeySigner } from './rawKeySigner.ts'
import { createThreadedSigner } from './threadedSigner.ts'

const privateKey = new Secret(`0x${'1234567890'.repeat(7).slice(0, 64)}`)

function signer() {
  const threaded = createThreadedSigner({ privateKey })
  onTestFinished(() => threaded.close())
  return threaded
}

const order = (index: number) => ({
  purpose: 'order' as const,
  orderId: `0x${index.toString(16).padStart(64, '0')}` as Hex,
})

describe('threaded signer', () => {
  test('equals the signer that works in place, for many at once and one after another', async () => {
    const threaded = signer()
    const inPlace = createRawKeySigner({ privateKey })
    expect(threaded.address).toBe(inPlace.address)
    const together = await Promise.all(Array.from({ length: 600 }, (_, index) => threaded.sign(order(index))))
    for (const [index, signature] of together.entries())
      expect(signature).toBe(await inPlace.sign(order(index)))
    for (const index of [1, 2, 3]) expect(await threaded.sign(order(index))).toBe(together[index])
  })

  test('fails what is asked after it was closed', async () => {
    const threaded = signer()
    await threaded.sign(order(1))
    await threaded.close()
    await expect(threaded.sign(order(2))).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
  })

  test('fails what was asked when its thread ends, instead of leaving it waiting', async () => {
    const threaded = signer()
    await threaded.sign(order(1))
    const asked = Promise.allSettled(Array.from({ length: 500 }, (_, index) => threaded.sign(order(index))))
    await new Promise((resolve) => setImmediate(resolve))
    await threaded.close()
    const outcomes = await asked
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
  })
})
