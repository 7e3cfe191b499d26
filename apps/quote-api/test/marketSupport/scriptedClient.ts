import type { JsonRpcClient, RpcAnswer, RpcCall } from '@causeway/chains'

export type ScriptedClient = JsonRpcClient & {
  /** Every batch that was asked. */
  readonly batches: readonly (readonly RpcCall[])[]
}

/** A chain whose answers the test writes, call by call. Stands in for a node at the client's interface. */
export function createScriptedClient(answer: (call: RpcCall) => RpcAnswer | Error): ScriptedClient {
  const batches: (readonly RpcCall[])[] = []
  const unused = () => Promise.reject(new Error('the market does not ask this'))
  return {
    chainId: 'base',
    batches,
    async batch(calls) {
      batches.push(calls)
      const answers = calls.map(answer)
      const failure = answers.find((one) => one instanceof Error)
      if (failure instanceof Error) throw failure
      return answers.filter((one): one is RpcAnswer => !(one instanceof Error))
    },
    request: unused,
    agree: unused,
    askEach: unused,
    probeHeads: unused,
    health: () => [],
    close: async () => {},
  }
}
