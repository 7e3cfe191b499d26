import type { Secret } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { VmType } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { type HeadPushes, openHeadPushes, type PushEnd } from '@causeway/rpc'

const pushCeilingMs = 1_000

/**
 * Whatever an endpoint tells of, it wakes nobody more often than a clock would: a quarter of a block, a second at most.
 * @source F-41
 */
function leastBetweenHeads(chain: { readonly blockTimeMs: number }): number {
  return Math.min(paceMs(chain) / 4, pushCeilingMs)
}

/** Drops calls within `leastMs` of the previous one; callers lose little because the next block follows soon. */
function atMostEvery(leastMs: number, tell: () => void): () => void {
  let toldAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (nowMs - toldAtMs < leastMs) return
    toldAtMs = nowMs
    tell()
  }
}

/** Subscribes to new blocks where a chain names endpoints for it; `onHead` asks for itself what there is. */
export function followNewHeads<
  Chain extends { readonly key: string; readonly blockTimeMs: number },
>(options: {
  /** By the key of a chain. */
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
  const opened = followed.flatMap((chain) => {
    const { vmType, headPushUrls: urls = [] } = registered.get(chain.key) ?? {}
    const subscription = vmType && families[vmType].headSubscription
    if (subscription === undefined || urls.length === 0) return []
    const leastMs = leastBetweenHeads(chain)
    const tell = () => onHead(chain)
    return openHeadPushes({
      ...{ urls, subscription, leastMs },
      // All endpoints together wake nobody more often, however fast blocks come.
      onHead: chain.blockTimeMs < leastMs ? atMostEvery(leastMs, tell) : tell,
      onChange: (endpoint, end) => onChange(chain.key, endpoint, end),
    })
  })
  return {
    close() {
      for (const each of opened) each.close()
    },
  }
}
