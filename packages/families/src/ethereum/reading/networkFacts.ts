import { randomBytes } from 'node:crypto'
import { bytesToHex, type Hex } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { parseQuantity, reachedBy, unlessUnreadable, type Vote, valuesByVoice } from '@causeway/rpc'
import type { ChainMoment, NetworkFacts, NetworkQuestion } from '../../shared/networkFacts.ts'
import { headRequest, parseHead } from '../agreement/head.ts'
import { encodeApprove } from '../rules/abi.ts'
import type { ShapeUnits } from '../rules/quoting/dearerState.ts'
import type { GasShape } from '../rules/quoting/gasUnits.ts'
import { gasUnits } from '../rules/quoting/gasUnits.ts'

type Probe = { readonly shape: GasShape; readonly call: RpcCall }

/**
 * The newest block, the newest final one, and what a new slot and a new account cost. As many endpoints must say it as
 * must for anything else: one alone makes no network look other than it is, and hides nothing.
 */
export async function readEthereumFacts(question: NetworkQuestion): Promise<NetworkFacts> {
  const [heads, shapes] = await Promise.all([
    askEach(question, [headRequest(), headRequest('finalized')]),
    measureShapes(question),
  ])
  const moment = (at: number): ChainMoment | undefined => {
    const reachedValue = heads(at, parseHead)
    if (reachedValue === undefined) return undefined
    return {
      number: reachedValue(({ number }) => number),
      timestampSeconds: Number(reachedValue(({ timestampSeconds }) => BigInt(timestampSeconds))),
    }
  }
  return { head: moment(0), final: moment(1), shapes }
}

/**
 * Current gas units of the measured shapes, for those that enough endpoints estimate: the most that at least so many
 * report. Each endpoint is asked once, so a silent one is waited for as long as `timeoutMs`. @source F-113
 */
export async function measureShapes(question: NetworkQuestion): Promise<readonly ShapeUnits[]> {
  const probes = probesOf(question)
  if (probes.length === 0) return []
  const answers = await askEach(
    question,
    probes.map(({ call }) => call),
  )
  return probes.flatMap(({ shape }, at): ShapeUnits[] => {
    const reachedValue = answers(at, (result) => parseQuantity(result, 'eth_estimateGas'))
    if (reachedValue === undefined) return []
    return [{ shape, units: reachedValue((units) => units), countedUnits: gasUnits[shape] }]
  })
}

/** The value that enough voices reach, by what is read out of an answer. */
type ReachedValue<Value> = (of: (value: Value) => bigint) => bigint
/** Reads one answer of each endpoint; `undefined` where too few gave one. */
type Answers = <Value>(at: number, read: (result: unknown) => Value) => ReachedValue<Value> | undefined

/** Asks every endpoint once. */
async function askEach(
  { client, timeoutMs, signal }: NetworkQuestion,
  calls: readonly RpcCall[],
): Promise<Answers> {
  const heard = await client.askEach(calls, {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal !== undefined && { signal }),
  })
  const { threshold } = client.electorate
  return <Value>(at: number, read: (result: unknown) => Value): ReachedValue<Value> | undefined => {
    const values = valuesByVoice(
      heard.map(
        ({ answers, ...voter }): Vote<Value> => ({ ...voter, value: readAnswer(answers?.[at], read) }),
      ),
    )
    return values.length < threshold ? undefined : (of) => reachedBy(threshold, values.map(of))
  }
}

/** Probes that cost most where a network makes state dearer: an allowance that nobody has, and a new account. */
function probesOf({ config, fillWallet }: NetworkQuestion): readonly Probe[] {
  // Arbitrum adds the fee of the data to what it estimates, and that changes with the prices of its parent.
  if (config.feeModel.kind === 'arbitrum' || fillWallet === undefined) return []
  const nobody = bytesToHex(randomBytes(20))
  const estimate = (shape: GasShape, transaction: { to: Hex; data?: Hex; value?: string }): Probe => ({
    shape,
    call: { method: 'eth_estimateGas', params: [{ from: fillWallet, ...transaction }] },
  })
  const { wrappedNative } = config
  return [
    estimate('send-native', { to: nobody, value: '0x1' }),
    ...(wrappedNative === undefined
      ? []
      : [estimate('approve', { to: wrappedNative, data: encodeApprove(nobody, 1n) })]),
  ]
}

/** `undefined` for what a node refuses, such as a final block that it does not know or a wallet without coin. */
function readAnswer<Value>(
  answer: RpcAnswer | undefined,
  read: (result: unknown) => Value,
): Value | undefined {
  if (answer === undefined || !answer.ok || answer.result === null) return undefined
  const { result } = answer
  return unlessUnreadable(() => read(result))
}
