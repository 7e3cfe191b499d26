import type { RegisteredChain } from './config/chainRegistry.ts'
import { type HeadPushes, openHeadPushes, type PushEnd } from './rpc/headPushes.ts'

/** Whatever an endpoint tells of, it wakes nobody more often than a clock would: a quarter of a block, between these. */
const pushFloorMs = 100
const pushCeilingMs = 1_000

/** Subscribes to new blocks where a chain names endpoints for it; `onHead` asks for itself what there is. */
export function followNewHeads<
  Chain extends { readonly key: string; readonly blockTimeMs: number },
>(options: {
  /** By the key of a chain. */
  readonly registered: ReadonlyMap<string, Pick<RegisteredChain, 'headPushUrls'>>
  readonly followed: readonly Chain[]
  readonly onHead: (chain: Chain) => void
  /** As that of `openHeadPushes`. */
  readonly onChange: (chain: string, endpoint: string, end: PushEnd | undefined) => void
}): HeadPushes {
  const { registered, followed, onHead, onChange } = options
  const opened = followed.flatMap((chain) => {
    const { headPushUrls: urls = [] } = registered.get(chain.key) ?? {}
    if (urls.length === 0) return []
    return openHeadPushes({
      urls,
      leastMs: Math.min(Math.max(chain.blockTimeMs / 4, pushFloorMs), pushCeilingMs),
      onHead: () => onHead(chain),
      onChange: (endpoint, end) => onChange(chain.key, endpoint, end),
    })
  })
  return {
    close() {
      for (const each of opened) each.close()
    },
  }
}
