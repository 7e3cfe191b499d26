import type { Secret } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { VmType } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { type HeadPushes, openHeadPushes, type PushEnd } from '@causeway/rpc'

const pushCeilingMs = 1_000

/**
 * Least time between two calls of `onHead` for one endpoint, whatever it sends: a quarter of the time between blocks,
 * but at least half a second, because `paceMs` is at least two, and at most a second.
 * @source F-41
 */
function minMsBetweenHeads(chain: { readonly blockTimeMs: number }): number {
  return Math.min(paceMs(chain) / 4, pushCeilingMs)
}

/** Drops calls within `leastMs` of the previous one; callers lose little because the next block follows soon. */
function atMostEvery(leastMs: number, notify: () => void): () => void {
  let notifiedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (nowMs - notifiedAtMs < leastMs) return
    notifiedAtMs = nowMs
    notify()
  }
}

/**
 * Subscribes to new blocks of the chains that name websocket endpoints. A push is only a hint: `onHead` reads the chain
 * by itself.
 */
export function followNewHeads<
  Chain extends { readonly key: string; readonly blockTimeMs: number },
>(options: {
  /** Registered chains by key. */
  readonly registered: ReadonlyMap<
    string,
    { readonly vmType: VmType; readonly headPushUrls?: readonly Secret[] | undefined }
  >
  readonly followed: readonly Chain[]
  readonly onHead: (chain: Chain) => void
  /** As that of `openHeadPushes`. */
  readonly onChange: (chain: string, endpoint: string, end: PushEnd | undefined) => void
}): HeadPushes {
  const { registered, followed, onHead, onChange } = options
  const openedPushes = followed.flatMap((chain) => {
    const { vmType, headPushUrls: urls = [] } = registered.get(chain.key) ?? {}
    const subscription = vmType && families[vmType].headSubscription
    if (subscription === undefined || urls.length === 0) return []
    const leastMs = minMsBetweenHeads(chain)
    const notify = () => onHead(chain)
    return openHeadPushes({
      urls,
      subscription,
      leastMs,
      // `leastMs` limits each endpoint; where blocks come faster than that, all endpoints together are limited as well.
      onHead: chain.blockTimeMs < leastMs ? atMostEvery(leastMs, notify) : notify,
      onChange: (endpoint, end) => onChange(chain.key, endpoint, end),
    })
  })
  return {
    close() {
      for (const pushes of openedPushes) pushes.close()
    },
  }
}
