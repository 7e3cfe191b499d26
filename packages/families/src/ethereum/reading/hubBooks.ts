import type { Hex, ReadOptions } from '@causeway/core'
import type { QuorumClient } from '@causeway/rpc'
import { parseBool, parseWord } from './answers.ts'
import { balanceOfData, createHubReader, type HubCall, isExecutedData, readEachNewest } from './hubReader.ts'

/** Reads many balances of the hub and whether many executions were applied, in pages; each page at one newest block. */
export interface HubBooks {
  /** In the order of the question. @throws UpstreamDisagreementError, UpstreamUnavailableError */
  balances(
    held: readonly { readonly holder: Hex; readonly tokenId: bigint }[],
    options: ReadOptions,
  ): Promise<readonly bigint[]>
  /** In the order of the question; true where an execution with the key was applied. @throws as `balances` */
  executed(idempotencyKeys: readonly Hex[], options: ReadOptions): Promise<readonly boolean[]>
}

/** Calls of one page, since endpoints limit the size of batches. */
const pageSize = 100

/** @param options.hubAddress contract that holds the balances; default the hub that the oracle contract names */
export function createHubBooks(options: {
  readonly quorum: QuorumClient
  readonly oracleAddress: Hex
  readonly hubAddress?: Hex | undefined
}): HubBooks {
  const { quorum, oracleAddress: oracle } = options
  // The rule has no effect: the reader of the hub is asked for an address alone, at the newest block.
  const rule = { mode: 'depth', tag: 'finalized', blocks: 0n, seconds: 0n } as const
  async function readPages<Asked, Value>(
    list: readonly Asked[],
    callOf: (item: Asked) => HubCall<Value>,
    { signal }: ReadOptions,
  ): Promise<readonly Value[]> {
    const values: Value[] = []
    for (let next = 0; next < list.length; next += pageSize) {
      const calls = list.slice(next, next + pageSize).map(callOf)
      values.push(...(await readEachNewest<Value>(quorum, calls, signal)).values)
    }
    return values
  }
  return {
    async balances(held, reading) {
      if (held.length === 0) return []
      const reader = createHubReader({ quorum, oracleAddress: oracle, rule })
      const to = options.hubAddress ?? (await reader.hubAddress(reading))
      return readPages(
        held,
        ({ holder, tokenId }) => ({ to, data: balanceOfData(holder, tokenId), parse: parseWord }),
        reading,
      )
    },
    executed: (keys, reading) =>
      readPages(keys, (key) => ({ to: oracle, data: isExecutedData(key), parse: parseBool }), reading),
  }
}
