import type { ChainClient, RpcAnswer } from '@causeway/rpc'
import { countVoices, createQuestionGroups, type Vote } from '@causeway/rpc'
import type { OutPoint } from '../rules/transaction.ts'

/** Milliseconds that late nodes have left to answer, once enough have answered. */
const patienceMs = 150
/** Outputs of one request to a node. */
const outputsMax = 100
/** One group that waits for a late node keeps nobody else from being asked for. */
const groupsInFlightMax = 4

/** Each node's `gettxout` answers in the order of the outputs, mempool included. */
export type UnspentVotes = readonly Vote<readonly RpcAnswer[]>[]

/** @throws upstream errors where too few nodes answer in time */
export type AskUnspent = (
  outputs: readonly OutPoint[],
  limits: { readonly timeoutMs: number },
) => Promise<UnspentVotes>

type Member = {
  readonly outputs: readonly OutPoint[]
  readonly untilMs: number
  readonly resolve: (votes: UnspentVotes) => void
  readonly reject: (error: unknown) => void
}

/**
 * One request to a node serves many addresses: questions of one moment leave together, and while four groups are out
 * further ones gather. The transactions behind new outputs, which may have megabytes, are asked for apart.
 */
export function createUnspentGroups(client: ChainClient): AskUnspent {
  const send = async (members: readonly Member[]): Promise<void> => {
    const calls = members.flatMap(({ outputs }) =>
      outputs.map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, true] })),
    )
    const votes = await client.poll<UnspentVotes>(calls, {
      // A caller who waited for other groups has no more time than he came with.
      timeoutMs: Math.max(1, Math.max(...members.map(({ untilMs }) => untilMs)) - Date.now()),
      patienceMs,
      decide: (heard, isLast) => (isLast && areEnough(heard, client) ? heard : undefined),
    })
    let next = 0
    for (const { outputs, resolve } of members) {
      const at = next
      next += outputs.length
      const end = next
      resolve(votes.map(({ value, ...voter }) => ({ ...voter, value: value?.slice(at, end) })))
    }
  }
  const groups = createQuestionGroups<Member>({
    // Requests that came in one turn of the loop leave in one group.
    ...{ inFlightMax: groupsInFlightMax, defer: setImmediate, firstOf, send },
    mayAskAgain: ({ untilMs }) => untilMs > Date.now(),
    fail: ({ reject }, error) => reject(error),
  })
  return (outputs, { timeoutMs }) =>
    new Promise((resolve, reject) => {
      groups.add({ outputs, untilMs: Date.now() + timeoutMs, resolve, reject })
    })
}

function areEnough(votes: UnspentVotes, { electorate }: ChainClient): boolean {
  return countVoices(votes.filter(({ value }) => value !== undefined)) >= electorate.threshold
}

/** As many of the first ones as one request may hold, and at least one. */
function firstOf(members: readonly Member[]): readonly Member[] {
  let count = 0
  const end = members.findIndex(({ outputs }, index) => {
    count += outputs.length
    return index > 0 && count > outputsMax
  })
  return end === -1 ? members : members.slice(0, end)
}
