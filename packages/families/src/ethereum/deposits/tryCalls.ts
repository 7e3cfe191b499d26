import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import {
  type JsonRpcClient,
  MalformedAnswerError,
  parseList,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
  toQuantity,
  unlessUnreadable,
} from '@causeway/rpc'
import type { SignedCalls, SimulatedCalls, SimulatedDeposit } from '../../shared/signedDeposits.ts'
import { encodeForwarded } from '../contracts/multicall.ts'
import { readErc20Deposit, readNativeDeposit } from '../reading/events.ts'

/** The signed calls, and the contract through which `from` submits them. */
type SimulatedExecution = SignedCalls & { readonly multicall3: Hex }

const method = 'eth_simulateV1'
const timeoutMs = 3_000
/** Gas limit of the simulation, which ends a call that never returns. */
const gasMax = 15_000_000n
/** Gas of one tuple in an authorization list. @source EIP-7702 */
const delegationGas = 25_000n
/** Begins the code of a delegated account; the implementation's address follows. @source EIP-7702 */
const delegationPrefix = '0xef0100'

/**
 * Simulates a user's signed calls as they would be submitted, by a call of Multicall3, on the newest state. As many
 * endpoints must agree as for an attestation. Returns the deposits that the calls make.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError
 * @source execution-apis, `eth_simulateV1`
 */
export async function tryCalls(
  client: Pick<JsonRpcClient, 'agree' | 'chainId'>,
  execution: SimulatedExecution,
): Promise<SimulatedCalls> {
  const { from, multicall3, to, data, delegations } = execution
  // Each delegated account has the code that its delegation will give it.
  const delegatedCode = delegations.map(
    ({ account, implementation }) =>
      [account, { code: `${delegationPrefix}${implementation.slice(2)}` }] as const,
  )
  const call = { from, to: multicall3, data: encodeForwarded({ target: to, callData: data }) }
  const block = {
    blockOverrides: { gasLimit: toQuantity(gasMax) },
    stateOverrides: Object.fromEntries(delegatedCode),
    calls: [call],
  }
  // Without validation, the sender needs no coin for gas, and its nonce is not checked.
  const params = [{ blockStateCalls: [block], validation: false }, 'latest']
  const outcomeOf = (answers: readonly RpcAnswer[]) => readOutcome(answers, execution)
  const { answers } = await client.agree([{ method, params }], {
    timeoutMs,
    // Gas is not compared, because it differs a little between blocks; ids and amounts of deposits must be
    // equal. All failures are alike, and so are all answers without an outcome.
    project: (endpointAnswers) => {
      const outcome = outcomeOf(endpointAnswers)
      return outcome?.succeeds === true
        ? outcome.deposits.map(({ id, currency, amount }) => `${id} ${currency} ${amount}`)
        : outcome
    },
  })
  const outcome = outcomeOf(answers)
  // Endpoints can also agree that none of them ran the calls.
  if (outcome === undefined) {
    throw new UpstreamUnavailableError(`Chain ${client.chainId} cannot run calls for a trial at the moment.`)
  }
  // The simulation starts with the delegations in place, so it counts no gas for them.
  const gasOfDelegations = delegationGas * BigInt(delegations.length)
  return outcome.succeeds ? { ...outcome, gas: outcome.gas + gasOfDelegations } : outcome
}

/** Outcome of the simulation's one block with its one call; undefined if the answer is an error or malformed. */
function readOutcome(
  [answer]: readonly RpcAnswer[],
  execution: SimulatedExecution,
): SimulatedCalls | undefined {
  if (answer?.ok !== true) return undefined
  return unlessUnreadable(() => {
    const [block] = parseList(answer.result, method)
    const [result] = parseList(parseRecord(block, method)['calls'], method)
    const call = parseRecord(result, method)
    if (parseQuantity(call['status'], method) !== 1n) return { succeeds: false }
    const logs = parseList(call['logs'], method)
    return {
      succeeds: true,
      gas: parseQuantity(call['gasUsed'], method),
      deposits: logs.flatMap((log) => depositOf(parseRecord(log, method), execution)),
    }
  })
}

/** The deposit that a log shows, or none. A contract other than the depository could log anything, so it shows none. */
function depositOf(
  log: Readonly<Record<string, unknown>>,
  { depository }: SimulatedExecution,
): readonly SimulatedDeposit[] {
  const address = textOf(log['address']).toLowerCase()
  if (address !== depository.toLowerCase()) return []
  const event = {
    address: hexOf(address),
    topics: parseList(log['topics'], method).map((topic) => hexOf(textOf(topic))),
    data: hexOf(textOf(log['data'])),
    logIndex: 0n, // The readers below need some position in the block, and return none.
  }
  const erc20 = readErc20Deposit(event)
  if (erc20 !== undefined) return [{ id: erc20.id, currency: erc20.token, amount: erc20.amount }]
  const native = readNativeDeposit(event)
  const { nativeCurrency: currency } = ethereumCodec
  return native === undefined ? [] : [{ id: native.id, currency, amount: native.amount }]
}

function textOf(value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) throw new MalformedAnswerError(method)
  return value
}

// CAST: `textOf` let nothing but hex through.
const hexOf = (text: string) => text.toLowerCase() as Hex
