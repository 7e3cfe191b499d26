import type { Hex } from '@causeway/core'
import {
  MalformedAnswerError,
  parseBytes,
  parseHash,
  parseList,
  parseRecord,
  toQuantity,
} from '@causeway/rpc'
import { type AgreedClient, agreedRead } from '../agreement/agreedTransport.ts'
import { type AbiReader, readAbi } from '../contracts/abiReader.ts'
import type { LiquidityChange } from './tickTable.ts'

/** `Mint(address,address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)` */
export const mintTopic: Hex = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde'
/** `Burn(address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)` */
export const burnTopic: Hex = '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c'

const requestName = 'eth_getLogs'

export type PoolLiquidityChange = LiquidityChange & { readonly pool: Hex }

/** One block by its hash, or blocks in a row by the heights of the first and the last. */
export type LogBlocks = { readonly blockHash: Hex } | { readonly from: bigint; readonly to: bigint }

/**
 * Changes of liquidity (mints and burns) in the given pools in some blocks. Swaps do not change the ticks' liquidity.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError
 */
export async function readLiquidityChanges(
  client: AgreedClient,
  pools: readonly Hex[],
  blocks: LogBlocks,
): Promise<readonly PoolLiquidityChange[]> {
  const blockFilter =
    'blockHash' in blocks ? blocks : { fromBlock: toQuantity(blocks.from), toBlock: toQuantity(blocks.to) }
  const filter = { ...blockFilter, address: [...pools], topics: [[mintTopic, burnTopic]] }
  const blockHash = 'blockHash' in blocks ? blocks.blockHash : undefined
  return parseLiquidityLogs(
    await agreedRead(client.request({ method: requestName, params: [filter] })),
    blockHash,
  )
}

/** @throws MalformedAnswerError, also on a log of another block than `blockHash` */
export function parseLiquidityLogs(
  result: unknown,
  blockHash: Hex | undefined,
): readonly PoolLiquidityChange[] {
  return parseList(result, requestName).map((entry) => {
    const log = parseRecord(entry, requestName)
    const isOfOtherBlock = blockHash !== undefined && parseHash(log['blockHash'], requestName) !== blockHash
    if (isOfOtherBlock) throw new MalformedAnswerError(requestName)
    const [topic, , lower, upper] = parseList(log['topics'], requestName).map((each) =>
      parseHash(each, requestName),
    )
    if (lower === undefined || upper === undefined) throw new MalformedAnswerError(requestName)
    const words = readAbi(parseBytes(log['data'], requestName), requestName)
    return {
      pool: parseBytes(log['address'], requestName),
      tickLower: signedTopic(lower),
      tickUpper: signedTopic(upper),
      liquidity: signedLiquidity(topic, words),
    }
  })
}

/** Liquidity of an event, negative for a burn. A mint's data begins with its sender, a burn's with the liquidity. */
function signedLiquidity(topic: Hex | undefined, words: AbiReader): bigint {
  if (topic === mintTopic) return words.uint(32)
  if (topic === burnTopic) return -words.uint(0)
  throw new MalformedAnswerError(requestName)
}

function signedTopic(topic: Hex): number {
  return Number(BigInt.asIntN(24, BigInt(topic)))
}
