import { UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer } from '@causeway/rpc'
import {
  comparisonText,
  createQuestionGroups,
  disagreement,
  type Electorate,
  MalformedAnswerError,
  tally,
  type Vote,
} from '@causeway/rpc'
import { listAccounts, parseListedAccount, type ShownAccount } from '../reading/answers.ts'
import { accountsCall } from '../reading/requests.ts'

/** Most accounts of one answer. @source Solana documentation, getMultipleAccounts */
export const accountsMax = 100
/** Limit of waiting questions; further ones are refused at once. */
const waitingMax = 1_000
/** Groups that are asked at the same time, so that one that waits for a late endpoint does not delay all others. */
const groupsInFlightMax = 4

/** Reads accounts for quotes, several questions with one request. */
export type AccountGroups = {
  /**
   * Reads accounts on which enough endpoints agree, each at its own newest slot. An unreadable account counts as a value
   * of its own, so that one endpoint cannot prevent the answer by it.
   * @param accounts at most `accountsMax`
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
 *
 * A question ends once: by its verdict about the votes that its group hears, by its own time limit, or by its
 * group's failure. After a failure the halves of a group are asked, without questions that ended, down to
 * each alone (`createQuestionGroups`). Only an answer to a question alone can be malformed by its own fault,
 * and is then a vote.
 */
export function createAccountGroups(client: JsonRpcClient): AccountGroups {
  const { electorate, chainId } = client
  const agreementQueue = createQuestionQueue(chainId, (group) => askAll(client, group))
  const singleQueue = createQuestionQueue(chainId, (group) => askOne(client, group))
  const askAccounts = <Said>(queue: QuestionQueue, voters: Electorate, question: Question<Said>) =>
    queue.ask<Said>(question.accounts, question.limits, (votes) => {
      const answers = votes.map((vote) => ({
        ...vote,
        value: vote.value && readAnswer(vote.value, question),
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

/** The answer of one endpoint is decided like a vote with one voter. */
const singleVoter = { alias: 'one', voice: 'one' }
const singleElectorate: Electorate = { voters: [singleVoter], threshold: 1 }

/** Asks all endpoints for a group's accounts; each member hears the answers until all members are settled. */
function askAll(client: JsonRpcClient, { accounts, members, limits }: Group): Promise<unknown> {
  return client.poll([accountsCall(accounts)], {
    ...limits,
    decide(votes) {
      const listVotes = votes.map((vote) => {
        const value = vote.value && listsOf(vote.value, accounts)
        // A group's unusable answer may be due to another question's account: it counts as silence.
        const isSilence = members.length > 1 && value instanceof MalformedAnswerError
        return { ...vote, value: isSilence ? undefined : value }
      })
      for (const member of members) member.hear(listVotes)
      return members.every((member) => member.isSettled) ? true : undefined
    },
  })
}

/** Asks one endpoint for a group's accounts. @throws MalformedAnswerError: then smaller groups are asked */
async function askOne(client: JsonRpcClient, { accounts, members, limits }: Group): Promise<void> {
  const value = listsOf(await client.batch([accountsCall(accounts)], limits), accounts)
  if (members.length > 1 && value instanceof MalformedAnswerError) throw value
  for (const member of members) member.hear([{ ...singleVoter, value }])
}

type Question<Said> = {
  readonly accounts: readonly string[]
  readonly read: (shownAccounts: readonly (ShownAccount | undefined)[]) => Said
  readonly limits: Limits
}

/** Unparsed accounts that one endpoint shows, by address; an error if its answer is no list of them. */
type Shown = ReadonlyMap<string, unknown> | MalformedAnswerError
/** One endpoint's answer to one question. `key`: its text, by which answers are compared. */
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

function readAnswer<Said>(shown: Shown, { accounts, read }: Question<Said>): AccountsAnswer<Said> {
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

/** One question in a group, whatever the type of its answer. */
type Member = Pick<WaitingQuestion<unknown>, 'accounts' | 'limits' | 'isSettled' | 'hear' | 'fail'>

/** Members that are asked with one request, for the accounts of all of them. */
type Group = Pick<Member, 'accounts' | 'limits'> & { readonly members: readonly Member[] }

/** Undefined while more votes can decide. @throws UpstreamDisagreementError */
type Verdict<Said> = (votes: Votes) => AccountsAnswer<Said> | undefined

type QuestionQueue = {
  ask<Said>(accounts: readonly string[], limits: Limits, verdict: Verdict<Said>): Promise<Said>
}

function createQuestionQueue(chainId: string, send: (group: Group) => Promise<unknown>): QuestionQueue {
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
      await send({ accounts, members, limits: { timeoutMs } })
    },
    fail: (member, error) => member.fail(error),
  })
  return {
    ask: (accounts, limits, verdict) =>
      new Promise((resolve, reject) => {
        // The question was not sent, so it is refused as if the chain were unreachable.
        if (groups.waiting() >= waitingMax) return reject(unavailable('RPC_HTTP_ERROR'))
        const lateError = () => unavailable('REQUEST_TIMED_OUT')
        groups.add(new WaitingQuestion({ accounts, limits, verdict, resolve, reject, lateError }))
      }),
  }
}

/** A question whose answer is awaited. It is settled once; what comes later is ignored. */
class WaitingQuestion<Said> {
  readonly accounts: readonly string[]
  readonly limits: Limits
  isSettled = false
  readonly #asked: AskedQuestion<Said>
  readonly #timer: NodeJS.Timeout

  constructor(asked: AskedQuestion<Said>) {
    this.accounts = asked.accounts
    this.limits = asked.limits
    this.#asked = asked
    this.#timer = setTimeout(() => this.fail(asked.lateError()), asked.limits.timeoutMs)
  }

  /** Takes in the endpoints' answers so far, and settles the question if they decide it. */
  hear(votes: Votes): void {
    if (this.isSettled) return
    try {
      const answer = this.#asked.verdict(votes)
      if (answer === undefined) return
      if ('error' in answer) throw answer.error
      this.#settle(() => this.#asked.resolve(answer.said))
    } catch (error) {
      this.fail(error)
    }
  }

  fail(error: unknown): void {
    this.#settle(() => this.#asked.reject(error))
  }

  #settle(finish: () => void): void {
    if (this.isSettled) return
    this.isSettled = true
    clearTimeout(this.#timer)
    finish()
  }
}

type AskedQuestion<Said> = {
  readonly accounts: readonly string[]
  readonly limits: Limits
  readonly verdict: Verdict<Said>
  readonly resolve: (said: Said) => void
  readonly reject: (error: unknown) => void
  /** Error of a question that is not decided in time. */
  readonly lateError: () => Error
}

/** The first members whose accounts, each counted once, fit into one request. */
function firstOf(members: readonly Member[]): readonly Member[] {
  const accounts = new Set<string>()
  const end = members.findIndex((member) => {
    for (const account of member.accounts) accounts.add(account)
    return accounts.size > accountsMax
  })
  return end === -1 ? members : members.slice(0, end)
}
