import type { Signer } from '@causeway/core'
import { SignerFailedError } from '@causeway/signer'

/**
 * The key that signs orders. Most quotes are sold before it signs anything, so it is asked now and then whether it still
 * can: a quote that is paid and cannot be signed is neither filled nor given back.
 */
export interface OrderKey extends Signer {
  /** @throws SignerFailedError before its first signature, and once two in a row failed */
  assertWorks(): void
}

/** Order id that no order has. */
const probe = { purpose: 'order', orderId: `0x${'0'.repeat(64)}` } as const
const pauseMs = { works: 60_000, failed: 2_000 }
/** A holder that is throttled for a moment stops nobody: it is asked once more before that. */
const failuresMax = 1

export type WatchedOrderKey = OrderKey & { start(): void; close(): void }

/** @param onChange told when it works for the first time, when it begins to fail, and when it works again */
export function createOrderKey(
  signer: Signer,
  onChange: (failure: unknown | undefined) => void,
): WatchedOrderKey {
  let failures = Number.POSITIVE_INFINITY
  let failure: unknown
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const works = () => failures <= failuresMax
  const note = (next: unknown) => {
    const didWork = works()
    failures = next === undefined ? 0 : failures + 1
    failure = next
    if (didWork !== works()) onChange(next)
  }
  const lookAfter = (ms: number) => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(look, ms)
    timer.unref()
  }
  const sign: Signer['sign'] = async (...args) => {
    try {
      const signature = await signer.sign(...args)
      note(undefined)
      return signature
    } catch (error) {
      // The caller has gone, which is no failure of the key.
      if (args[1]?.signal?.aborted === true) throw error
      note(error)
      lookAfter(failures === 1 ? 0 : pauseMs.failed)
      throw error
    }
  }
  const look = async () => {
    const isGood = await sign(probe).then(
      () => true,
      () => false,
    )
    if (isGood) lookAfter(pauseMs.works)
  }
  return {
    address: signer.address,
    sign,
    assertWorks() {
      if (!works()) throw new SignerFailedError({ cause: failure })
    },
    start: () => void look(),
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
