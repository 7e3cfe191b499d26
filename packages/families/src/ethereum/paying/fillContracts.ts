import type { Hex } from '@causeway/core'
import { type ChainClient, parseBytes } from '@causeway/rpc'
import type { FillContracts } from './contractPayingChain.ts'

const codeTimeoutMs = 5_000

/**
 * Reads the code of replaced fill contracts once, because deployed code does not change.
 * @param options.own the chain's present fill contract, whose code the start has compared
 * @param options.listed all that the chains file lists, in lower case
 */
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
    contracts ??= [own, ...(await keepKnown(client, replaced, recordsPayments))]
    return contracts
  }
}

/** The addresses whose code is a fill contract of ours. */
async function keepKnown(
  client: Pick<ChainClient, 'agree'>,
  addresses: readonly Hex[],
  recordsPayments: (code: Hex) => boolean,
): Promise<readonly Hex[]> {
  const method = 'eth_getCode'
  const calls = addresses.map((address) => ({ method, params: [address, 'latest'] }))
  const { answers } = await client.agree(calls, {
    timeoutMs: codeTimeoutMs,
    project: (codeAnswers) => codeAnswers.map((one) => (one.ok ? parseBytes(one.result, method) : undefined)),
  })
  return addresses.filter((_, index) => {
    const answer = answers[index]
    return answer?.ok === true && recordsPayments(parseBytes(answer.result, method))
  })
}
