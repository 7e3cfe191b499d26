import type { Hex } from '@causeway/core'
import { type ChainClient, parseBytes } from '@causeway/rpc'
import type { FillContracts } from './contractPayingChain.ts'

const codeTimeoutMs = 5_000

/** @param listed in lower case; code that was read stays what it is, so that each is read once */
export function createFillContracts({
  client,
  own,
  listed,
  recordsPayments,
}: {
  readonly client: Pick<ChainClient, 'agree'>
  readonly own: Hex
  readonly listed: readonly Hex[]
  /** True for the runtime code of a fill contract of ours. */
  readonly recordsPayments: (code: Hex) => boolean
}): FillContracts {
  const replaced = listed.filter((address) => address !== own)
  let contracts: readonly [Hex, ...Hex[]] | undefined = replaced.length === 0 ? [own] : undefined
  return async () => {
    contracts ??= [own, ...(await knownOf(client, replaced, recordsPayments))]
    return contracts
  }
}

async function knownOf(
  client: Pick<ChainClient, 'agree'>,
  addresses: readonly Hex[],
  recordsPayments: (code: Hex) => boolean,
): Promise<readonly Hex[]> {
  const method = 'eth_getCode'
  const calls = addresses.map((address) => ({ method: method, params: [address, 'latest'] }))
  const { answers } = await client.agree(calls, {
    timeoutMs: codeTimeoutMs,
    project: (codeAnswers) => codeAnswers.map((one) => (one.ok ? parseBytes(one.result, method) : undefined)),
  })
  return addresses.filter((_, index) => {
    const answer = answers[index]
    return answer?.ok === true && recordsPayments(parseBytes(answer.result, method))
  })
}
