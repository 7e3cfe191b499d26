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
/** Above this, questions are refused at once: the cluster is slower than those who ask about it. */
const waitingMax = 1_000
/** One group that waits for a late endpoint keeps nobody else from being asked for. */
const groupsInFlightMax = 4

export type AccountGroups = {
  /**
   * Values of accounts that enough endpoints share, each at its own newest slot. Accounts that an endpoint shows in an
   * unreadable form count as a value of their own, so one endpoint cannot prevent the answer that way.
   * @param read parses the values; the whole result is compared
   * @throws UpstreamDisagreementError, UpstreamUnavailableError (late ones too), MalformedAnswerError
   */
  agreed<Said>(
    accounts: readonly string[],
    read: (shownAccounts: readonly (ShownAccount | undefined)[]) => Said,
    limits: Limits,
  ): Promise<Said>
  /** As one endpoint shows it. @throws UpstreamUnavailableError (late ones too), MalformedAnswerError */
  shown(account: string, limits: Limits): Promise<ShownAccount | undefined>
}

export type Limits = { readonly timeoutMs: number }

/**
 * One request to an endpoint serves many questions: those of one moment leave together, and while four groups are out
 * further ones gather, as in a group commit. Each question has its own answer as soon as its own accounts are agreed
 * on: neither an endpoint that lies about another account nor one that is late keeps it from that.
 */
export function createAccountGroups(client: JsonRpcClient): AccountGroups {
  const { electorate, chainId } = client
  const agreeing = createQuestionQueue(chainId, (accounts, members, limits) =>
    client.poll([accountsCall(accounts)], {
      ...limits,
      decide(votes) {
        const shown = votes.map((vote) => {
          const value = vote.value && listsOf(vote.value, accounts)
          // A refusal of several accounts may be for one of them.
          return {
            ...vote,
            value: members.length > 1 && value instanceof MalformedAnswerError ? undefined : value,
          }
        })
        for (const member of members) member.hear(shown)
        return members.every((member) => member.isSettled) ? true : undefined
      },
    }),
  )
  const showing = createQuestionQueue(chainId, async (accounts, members, limits) => {
    const value = listsOf(await client.batch([accountsCall(accounts)], limits), accounts)
    if (members.length > 1 && value instanceof MalformedAnswerError) throw value
    for (const member of members) member.hear([{ alias: 'one', voice: 'one', value }])
  })
  const one = { voters: [{ alias: 'one', voice: 'one' }], threshold: 1 }

  const askAccounts = <Said>(
    queue: typeof agreeing,
    counted: typeof electorate,
    { accounts, read, limits }: Question<Said>,
  ) =>
    queue.ask<Said>(accounts, limits, (votes) => {
      const answers = votes.map((vote) => ({
        ...vote,
        value: vote.value && readAnswer(vote.value, accounts, read),
      }))
      const verdict = tally(answers, counted, ({ key }) => key)
      if (verdict.status === 'disagreed') throw disagreement(chainId, verdict.groups)
      return verdict.status === 'agreed' ? verdict.value : undefined
    })
  return {
    agreed: (accounts, read, limits) => askAccounts(agreeing, electorate, { accounts, read, limits }),
    shown: (account, limits) =>
      askAccounts(showing, one, { accounts: [account], read: ([shownAccount]) => shownAccount, limits }),
  }
}

type Question<Said> = {
  readonly accounts: readonly string[]
  readonly read: (shownAccounts: readonly (ShownAccount | undefined)[]) => Said
  readonly limits: Limits
}

/** Unparsed accounts that one endpoint shows; an error if its answer is no list of them. */
type Shown = ReadonlyMap<string, unknown> | MalformedAnswerError
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

type Member = {
  readonly accounts: readonly string[]
  readonly limits: Limits
  isSettled: boolean
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
          ...{ accounts, limits, isSettled: false, fail },
          hear(votes) {
            if (member.isSettled) return
            try {
              const saying = verdict(votes)
              if (saying === undefined) return
              settle(() => ('error' in saying ? reject(saying.error) : resolve(saying.said)))
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

/** As many of the first ones as one request holds the accounts of. */
function firstOf(members: readonly Member[]): readonly Member[] {
  const accounts = new Set<string>()
  const end = members.findIndex((member) => {
    for (const account of member.accounts) accounts.add(account)
    return accounts.size > accountsMax
  })
  return end === -1 ? members : members.slice(0, end)
}
