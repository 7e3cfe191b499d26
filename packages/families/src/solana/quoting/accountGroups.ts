import { UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer } from '@causeway/rpc'
import {
  comparisonText,
  createQuestionGroups,
  disagreement,
  MalformedAnswerError,
  tally,
  type Vote,
} from '@causeway/rpc'
import { listAccounts, parseListedAccount, type ShownAccount } from '../reading/answers.ts'
import { accountsCall } from '../reading/requests.ts'

/** Most accounts of one answer. @source Solana documentation, getMultipleAccounts */
const accountsMax = 100
/** Limit of waiting questions; further ones are refused at once. */
const waitingMax = 1_000
/** Groups that are asked at the same time, so that one that waits for a late endpoint does not delay all others. */
const groupsInFlightMax = 4

/** Reads accounts for quotes, several questions with one request. */
export type AccountGroups = {
  /**
   * What enough endpoints say about accounts, each at its own newest slot. An unreadable account counts as a value of
   * its own, so that one endpoint cannot prevent the answer by it.
   * @param read parses the accounts; its whole result is compared
   * @throws UpstreamDisagreementError, UpstreamUnavailableError (late ones too), MalformedAnswerError
   */
  agreed<Said>(
    accounts: readonly string[],
    read: (shownAccounts: readonly (ShownAccount | undefined)[]) => Said,
    limits: Limits,
  ): Promise<Said>
  /** An account as one endpoint shows it. @throws UpstreamUnavailableError (late ones too), MalformedAnswerError */
  ofOneEndpoint(account: string, limits: Limits): Promise<ShownAccount | undefined>
}

export type Limits = { readonly timeoutMs: number }

/**
 * Lets one request to an endpoint serve many questions: those of one moment leave as one group, and while four groups
 * are in flight further questions wait for the next. Each question is answered as soon as enough endpoints agree on
 * its own accounts, whatever they say about others.
 */
export function createAccountGroups(client: JsonRpcClient): AccountGroups {
  const { electorate, chainId } = client
  const agreementQueue = createQuestionQueue(chainId, (accounts, members, limits) =>
    client.poll([accountsCall(accounts)], {
      ...limits,
      decide(votes) {
        const listVotes = votes.map((vote) => {
          const value = vote.value && listsOf(vote.value, accounts)
          // A group's unusable answer may be due to another question's account: it counts as silence.
          return {
            ...vote,
            value: members.length > 1 && value instanceof MalformedAnswerError ? undefined : value,
          }
        })
        for (const member of members) member.hear(listVotes)
        return members.every((member) => member.isSettled) ? true : undefined
      },
    }),
  )
  const singleQueue = createQuestionQueue(chainId, async (accounts, members, limits) => {
    const value = listsOf(await client.batch([accountsCall(accounts)], limits), accounts)
    if (members.length > 1 && value instanceof MalformedAnswerError) throw value
    for (const member of members) member.hear([{ alias: 'one', voice: 'one', value }])
  })
  /** The answer of one endpoint is decided like a vote with one voter. */
  const singleElectorate = { voters: [{ alias: 'one', voice: 'one' }], threshold: 1 }

  const askAccounts = <Said>(
    queue: typeof agreementQueue,
    voters: typeof electorate,
    { accounts, read, limits }: Question<Said>,
  ) =>
    queue.ask<Said>(accounts, limits, (votes) => {
      const answers = votes.map((vote) => ({
        ...vote,
        value: vote.value && readAnswer(vote.value, accounts, read),
      }))
      const verdict = tally(answers, voters, ({ key }) => key)
      if (verdict.status === 'disagreed') throw disagreement(chainId, verdict.groups)
      return verdict.status === 'agreed' ? verdict.value : undefined
    })
  return {
    agreed: (accounts, read, limits) => askAccounts(agreementQueue, electorate, { accounts, read, limits }),
    ofOneEndpoint: (account, limits) =>
      askAccounts(singleQueue, singleElectorate, {
        accounts: [account],
        read: ([shownAccount]) => shownAccount,
        limits,
      }),
  }
}

type Question<Said> = {
  readonly accounts: readonly string[]
  readonly read: (shownAccounts: readonly (ShownAccount | undefined)[]) => Said
  readonly limits: Limits
}

/** Unparsed accounts that one endpoint shows, by address; an error if its answer is no list of them. */
type Shown = ReadonlyMap<string, unknown> | MalformedAnswerError
/** What one endpoint says to one question. `key`: its text, by which answers are compared. */
type AccountsAnswer<Said> = { readonly key: string } & ({ readonly said: Said } | { readonly error: Error })

function listsOf([answer]: readonly RpcAnswer[], accounts: readonly string[]): Shown {
  try {
    const { list } = listAccounts(answer, accounts.length)
    return new Map(accounts.map((account, index) => [account, list[index]]))
  } catch (error) {
    if (error instanceof MalformedAnswerError) return error
    throw error
  }
}

function readAnswer<Said>(
  shown: Shown,
  accounts: readonly string[],
  read: Question<Said>['read'],
): AccountsAnswer<Said> {
  try {
    if (shown instanceof MalformedAnswerError) throw shown
    const value = read(accounts.map((account) => parseListedAccount(shown.get(account))))
    return { key: comparisonText({ said: value ?? null }), said: value }
  } catch (error) {
    if (!(error instanceof MalformedAnswerError)) throw error
    return { key: comparisonText({ unreadable: error.message }), error }
  }
}

type Votes = readonly Vote<Shown>[]

/** One question in a group. */
type Member = {
  readonly accounts: readonly string[]
  readonly limits: Limits
  /** True once its promise is resolved or rejected. */
  isSettled: boolean
  /** Takes in the endpoints' answers so far, and settles the question if they decide it. */
  hear(votes: Votes): void
  fail(error: unknown): void
}

type QuestionQueue = {
  ask<Said>(
    accounts: readonly string[],
    limits: Limits,
    verdict: (votes: Votes) => AccountsAnswer<Said> | undefined,
  ): Promise<Said>
}

function createQuestionQueue(
  chainId: string,
  send: (accounts: readonly string[], members: readonly Member[], limits: Limits) => Promise<unknown>,
): QuestionQueue {
  const unavailable = (code: 'REQUEST_TIMED_OUT' | 'RPC_HTTP_ERROR') =>
    new UpstreamUnavailableError(`Chain ${chainId} does not show its accounts in time.`, {
      code,
      data: { chainId },
    })
  const groups = createQuestionGroups<Member>({
    inFlightMax: groupsInFlightMax,
    defer: queueMicrotask,
    isWanted: ({ isSettled }) => !isSettled,
    firstOf,
    async send(members) {
      const accounts = [...new Set(members.flatMap((member) => member.accounts))]
      const timeoutMs = Math.max(...members.map(({ limits }) => limits.timeoutMs))
      await send(accounts, members, { timeoutMs })
    },
    fail: (member, error) => member.fail(error),
  })
  return {
    ask: (accounts, limits, verdict) =>
      new Promise((resolve, reject) => {
        if (groups.waiting() >= waitingMax) return reject(unavailable('RPC_HTTP_ERROR'))
        const settle = (finish: () => void) => {
          if (member.isSettled) return
          member.isSettled = true
          clearTimeout(timer)
          finish()
        }
        const fail = (error: unknown) => settle(() => reject(error))
        const member: Member = {
          accounts,
          limits,
          isSettled: false,
          fail,
          hear(votes) {
            if (member.isSettled) return
            try {
              const answer = verdict(votes)
              if (answer === undefined) return
              settle(() => ('error' in answer ? reject(answer.error) : resolve(answer.said)))
            } catch (error) {
              fail(error)
            }
          },
        }
        const timer = setTimeout(() => fail(unavailable('REQUEST_TIMED_OUT')), limits.timeoutMs)
        groups.add(member)
      }),
  }
}

/** The first members whose accounts fit into one request. */
function firstOf(members: readonly Member[]): readonly Member[] {
  const accounts = new Set<string>()
  const end = members.findIndex((member) => {
    for (const account of member.accounts) accounts.add(account)
    return accounts.size > accountsMax
  })
  return end === -1 ? members : members.slice(0, end)
}
