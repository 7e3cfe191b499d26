import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { type ChainClient, parseQuantity, type RpcAnswer, toQuantity } from '@causeway/rpc'
import type { ContractPayingOptions, NonceCounts } from './contractPayingChain.ts'

const readTimeoutMs = 5_000

/** Reads how far the chain and the fill wallet's nonces are. @throws DomainError where too few endpoints answer */
export async function readCounts({
  client,
  finalBlocks,
  signer: { address },
}: Pick<ContractPayingOptions, 'client' | 'finalBlocks' | 'signer'>): Promise<NonceCounts> {
  const [final, heads] = await Promise.all([
    finalBlocks.readNewest({ signal: AbortSignal.timeout(readTimeoutMs) }),
    client.askEach(
      [
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ],
      { timeoutMs: readTimeoutMs },
    ),
  ])
  const { threshold } = client.electorate
  const finalCount = await agreedCount(client, address, final.number)
  return {
    finalCount,
    finalBlock: final.number,
    // The counts come from separate questions, so endpoints that lag could show fewer nonces than are final.
    latestCount: Math.max(finalCount, Number(reached(heads, threshold, countOf))),
    chainTime: Number(reached(heads, threshold, timeOf)),
  }
}

/** Answers of each endpoint about the newest block. */
type Heads = Awaited<ReturnType<ChainClient['askEach']>>

/**
 * The value that at least `threshold` hosts have reached, so that a single host ahead or behind changes nothing. Of a host
 * with several endpoints the lowest value counts.
 */
function reached(
  heads: Heads,
  threshold: number,
  readValue: (answers: readonly RpcAnswer[]) => bigint | undefined,
): bigint {
  const valueByVoice = new Map<string, bigint>()
  for (const { voice, answers } of heads) {
    const value = answers === undefined ? undefined : readValue(answers)
    if (value === undefined) continue
    const other = valueByVoice.get(voice)
    valueByVoice.set(voice, other === undefined || value < other ? value : other)
  }
  const agreedValue = [...valueByVoice.values()].sort((one, other) => (one < other ? 1 : -1))[threshold - 1]
  if (agreedValue === undefined)
    throw new UpstreamUnavailableError('Too few endpoints name their newest block.')
  return agreedValue
}

function countOf([count]: readonly RpcAnswer[]): bigint | undefined {
  return count?.ok === true ? quantity(count.result) : undefined
}

function timeOf([, block]: readonly RpcAnswer[]): bigint | undefined {
  if (block?.ok !== true || typeof block.result !== 'object' || block.result === null) return undefined
  return 'timestamp' in block.result ? quantity(block.result.timestamp) : undefined
}

function quantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : undefined
}

/** Count of nonces used at a block, by agreement of endpoints. */
async function agreedCount(client: ChainClient, address: Hex, block: bigint): Promise<number> {
  const method = 'eth_getTransactionCount'
  const { answers } = await client.agree([{ method, params: [address, toQuantity(block)] }], {
    timeoutMs: readTimeoutMs,
  })
  const [answer] = answers
  return Number(parseQuantity(answer?.ok === true ? answer.result : undefined, method))
}
