import type { Hex } from '@causeway/core'
import { addressWord } from '../abi.ts'
import type { TopUpLog, TopUpTarget } from './topUp.ts'

/** `keccak256("Transfer(address,address,uint256)")`. @source ERC-20 */
export const transferTopic: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** One log of a receipt. All members are lower case. */
export type ReceiptLog = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly logIndex: number
}

/** Topics by which a node filters transfers to custody. */
export function topUpTopics(custody: Hex): readonly (Hex | null)[] {
  return [transferTopic, null, `0x${addressWord(custody)}`]
}

/** The token's transfers to custody among the logs of one receipt; logs of another shape than ERC-20's are ignored. */
export function topUpLogs(
  logs: readonly ReceiptLog[],
  { token, custody }: Pick<TopUpTarget, 'token' | 'custody'>,
): readonly TopUpLog[] {
  const receiver = `0x${addressWord(custody)}`
  return logs.flatMap(({ address, topics, data, logIndex }, ordinal) => {
    const [event, from, to] = topics
    const isTransfer = topics.length === 3 && event === transferTopic && data.length === 66
    if (!isTransfer || address !== token || to !== receiver || from === undefined) return []
    return [{ ordinal, logIndex, from: `0x${from.slice(26)}` as const, value: BigInt(data) }]
  })
}
