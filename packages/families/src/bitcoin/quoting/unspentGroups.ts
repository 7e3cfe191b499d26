import type { ChainClient, RpcAnswer } from '@causeway/rpc'
import { countVoices, createQuestionGroups, type Vote } from '@causeway/rpc'
import type { OutPoint } from '../rules/transaction.ts'

/** Milliseconds that late nodes have left to answer, once enough have answered. */
const patienceMs = 150
/** Most outputs of one request to a node. */
const outputsMax = 100
/** Groups that are asked at the same time, so that one that waits for a late node does not delay all others. */
const groupsInFlightMax = 4

/** Each node's `gettxout` answers in the order of the outputs, mempool included. */
export type UnspentVotes = readonly Vote<readonly RpcAnswer[]>[]

/** Asks all nodes whether outputs are unspent. @throws upstream errors where too few nodes answer in time */
export type AskUnspent = (
  outputs: readonly OutPoint[],
  limits: { readonly timeoutMs: number },
) => Promise<UnspentVotes>

/** One caller's question. */
type Member = {
  readonly outputs: readonly OutPoint[]
  readonly untilMs: number
  readonly resolve: (votes: UnspentVotes) => void
  readonly reject: (error: unknown) => void
}

/**
 * Lets one request to a node serve many addresses: questions of one moment leave as one group, and while four groups
 * are in flight further questions wait for the next. Only outputs whose bytes are known are asked for here.
 */
export function createUnspentGroups(client: ChainClient): AskUnspent {
  const send = async (members: readonly Member[]): Promise<void> => {
    const calls = members.flatMap(({ outputs }) =>
      outputs.map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, true] })),
    )
    const votes = await client.poll<UnspentVotes>(calls, {
      // The most patient member decides; waiting for other groups has used up a part of its time.
      timeoutMs: Math.max(1, Math.max(...members.map(({ untilMs }) => untilMs)) - performance.now()),
      patienceMs,
      decide: (currentVotes, isLast) =>
        isLast && areEnough(currentVotes, client) ? currentVotes : undefined,
    })
    let start = 0
    for (const { outputs, resolve } of members) {
      const [from, end] = [start, start + outputs.length]
      start = end
      resolve(votes.map(({ value, ...voter }) => ({ ...voter, value: value?.slice(from, end) })))
    }
  }
  const groups = createQuestionGroups<Member>({
    inFlightMax: groupsInFlightMax,
    // Questions that came in one turn of the event loop leave in one group.
    defer: setImmediate,
    firstOf,
    send,
    // After a group has failed, those of its members are asked again whose time is not over.
    mayAskAgain: ({ untilMs }) => untilMs > performance.now(),
    fail: ({ reject }, error) => reject(error),
  })
  return (outputs, { timeoutMs }) =>
    new Promise((resolve, reject) => {
      groups.add({ outputs, untilMs: performance.now() + timeoutMs, resolve, reject })
    })
}

function areEnough(votes: UnspentVotes, { electorate }: ChainClient): boolean {
  return countVoices(votes.filter(({ value }) => value !== undefined)) >= electorate.threshold
}

/** The first members whose outputs fit into one request. None if the first has too many: it leaves alone. */
function firstOf(members: readonly Member[]): readonly Member[] {
  let count = 0
  const end = members.findIndex(({ outputs }) => {
    count += outputs.length
    return count > outputsMax
  })
  return end === -1 ? members : members.slice(0, end)
}
