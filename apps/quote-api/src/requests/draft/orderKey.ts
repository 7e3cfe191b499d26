import type { Signer } from '@causeway/core'
import { SignerFailedError } from '@causeway/signer'

/**
 * The key that signs orders. Most quotes are sold before it signs anything, so it is asked now and then whether it still
 * can: a quote that is paid and cannot be signed is neither filled nor given back.
 */
export interface OrderKey extends Signer {
  /** @throws SignerFailedError unless its last signature was good */
  assertWorks(): void
}

/** Nobody finds an order with this id. */
const probe = { purpose: 'order', orderId: `0x${'0'.repeat(64)}` } as const
const pauseMs = { works: 60_000, failed: 2_000 }

export type WatchedOrderKey = OrderKey & { start(): void; close(): void }

/** @param onChange told when it begins to fail, and when it works again */
export function createOrderKey(
  signer: Signer,
  onChange: (failure: unknown | undefined) => void,
): WatchedOrderKey {
  let failure: unknown = new SignerFailedError()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const note = (next: unknown) => {
    if ((failure === undefined) !== (next === undefined)) onChange(next)
    failure = next
  }
  const sign: Signer['sign'] = async (...asked) => {
    try {
      const signature = await signer.sign(...asked)
      note(undefined)
      return signature
    } catch (error) {
      // Whoever asked has gone: that says nothing of the key.
      if (asked[1]?.signal?.aborted !== true) note(error)
      throw error
    }
  }
  const look = async () => {
    await sign(probe).catch(() => {})
    if (isClosed) return
    timer = setTimeout(look, failure === undefined ? pauseMs.works : pauseMs.failed)
    timer.unref()
  }
  return {
    address: signer.address,
    sign,
    assertWorks() {
      if (failure !== undefined) throw new SignerFailedError({ cause: failure })
    },
    start: () => void look(),
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
