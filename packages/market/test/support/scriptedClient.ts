import { UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, PollOptions, RpcAnswer, RpcCall } from '@causeway/rpc'

export type ScriptedClient = JsonRpcClient & {
  /** Every batch that was asked. */
  readonly batches: readonly (readonly RpcCall[])[]
}

/** A chain whose answers the test writes, call by call. Stands in for a node at the client's interface. */
export function createScriptedClient(answer: (call: RpcCall) => RpcAnswer | Error): ScriptedClient {
  const batches: (readonly RpcCall[])[] = []
  const voter = { alias: 'scripted', voice: 'scripted' }
  const answered = (calls: readonly RpcCall[]): readonly RpcAnswer[] => {
    batches.push(calls)
    const answers = calls.map(answer)
    const failure = answers.find((one) => one instanceof Error)
    if (failure instanceof Error) throw failure
    return answers.filter((one): one is RpcAnswer => !(one instanceof Error))
  }
  const unused = () => Promise.reject(new Error('the market does not ask this'))
  return {
    chainId: 'base',
    batches,
    electorate: { voters: [voter], threshold: 1 },
    batch: async (calls) => answered(calls),
    async poll<Outcome>(calls: readonly RpcCall[], { decide, onHeard }: PollOptions<Outcome>) {
      const votes = [{ ...voter, value: answered(calls) }]
      onHeard?.(votes)
      const outcome = decide(votes, true)
      if (outcome === undefined) throw new UpstreamUnavailableError('The script gives no answer.')
      return outcome
    },
    request: unused,
    agree: unused,
    askEach: unused,
    probeHeads: unused,
    health: () => [],
    sizes: () => [],
    trySizes: unused,
    close: async () => {},
  }
}
