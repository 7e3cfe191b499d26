import type { Signer } from '@causeway/core'
import { SignerFailedError } from '@causeway/signer'

/**
 * The order signer with a health check. Most quotes are answered before the key signs anything, and a paid order that cannot
 * be signed is neither filled nor refunded. So the key signs a probe every minute, and quotes stop while it fails.
 */
export interface OrderKey extends Signer {
  /** @throws SignerFailedError before the first signature, and after two failures in a row */
  assertWorks(): void
}

/** Order id that no order has. */
const probe = { purpose: 'order', orderId: `0x${'0'.repeat(64)}` } as const
/** Time to the next probe after a success and after a failure. */
const probePauseMs = { works: 60_000, failed: 2_000 }
/** One failure stops nothing, because a key service may throttle for a moment: the key is probed again at once. */
const toleratedFailures = 1

export type WatchedOrderKey = OrderKey & { start(): void; close(): void }

/**
 * @param onChange told when the key works for the first time or again, with undefined, and when it begins to fail, with the
 * error
 */
export function createOrderKey(
  signer: Signer,
  onChange: (failure: unknown | undefined) => void,
): WatchedOrderKey {
  // A key that never signed does not work.
  let failuresInARow = Number.POSITIVE_INFINITY
  let lastError: unknown
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const works = () => failuresInARow <= toleratedFailures
  /** Counts failures in a row, and tells `onChange` when the key begins to fail or works again. */
  const recordOutcome = (error: unknown) => {
    const didWork = works()
    failuresInARow = error === undefined ? 0 : failuresInARow + 1
    lastError = error
    if (didWork !== works()) onChange(error)
  }
  const probeAfter = (ms: number) => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(probeKey, ms)
    timer.unref()
  }
  const sign: Signer['sign'] = async (...args) => {
    try {
      const signature = await signer.sign(...args)
      recordOutcome(undefined)
      return signature
    } catch (error) {
      // The caller has gone, which is no failure of the key.
      if (args[1]?.signal?.aborted === true) throw error
      recordOutcome(error)
      // After a first failure the key is probed at once, also if it failed for a quote.
      probeAfter(failuresInARow === 1 ? 0 : probePauseMs.failed)
      throw error
    }
  }
  const probeKey = async () => {
    const hasSigned = await sign(probe).then(
      () => true,
      () => false,
    )
    // After a failure `sign` has planned the next probe.
    if (hasSigned) probeAfter(probePauseMs.works)
  }
  return {
    address: signer.address,
    sign,
    assertWorks() {
      if (!works()) throw new SignerFailedError({ cause: lastError })
    },
    start: () => void probeKey(),
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
