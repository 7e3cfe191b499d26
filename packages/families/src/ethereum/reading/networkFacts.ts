import { randomBytes } from 'node:crypto'
import { bytesToHex, type Hex } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { parseQuantity, reachedBy, unlessUnreadable, type Vote, valuesByVoice } from '@causeway/rpc'
import type { ShapeUnits } from '../../rules/measuredUnits.ts'
import type { ChainMoment, NetworkFacts, NetworkQuestion } from '../../shared/networkFacts.ts'
import { type ChainHead, headRequest, parseHead } from '../agreement/head.ts'
import { encodeApprove } from '../rules/abi.ts'
import type { GasShape } from '../rules/quoting/gasUnits.ts'
import { gasUnits } from '../rules/quoting/gasUnits.ts'

/** A transaction of one shape whose gas is estimated. */
type Probe = { readonly shape: GasShape; readonly call: RpcCall }

/**
 * The newest block, the newest final one, and the gas of transactions that write a new slot or a new account. Each
 * value is one that at least `threshold` endpoints reach, so that a single endpoint can neither distort nor hide it.
 */
export async function readEthereumFacts(question: NetworkQuestion): Promise<NetworkFacts> {
  const [answersTo, shapes] = await Promise.all([
    askEach(question, [headRequest(), headRequest('finalized')]),
    measureShapes(question),
  ])
  const [newest, final] = [answersTo(0, parseHead), answersTo(1, parseHead)]
  return { head: momentOf(newest), final: momentOf(final), shapes }
}

function momentOf(reached: ReachedValue<ChainHead> | undefined): ChainMoment | undefined {
  if (reached === undefined) return undefined
  return {
    number: reached(({ number }) => number),
    timestampSeconds: Number(reached(({ timestampSeconds }) => BigInt(timestampSeconds))),
  }
}

/**
 * Current gas units of the probed shapes that enough endpoints estimate: the highest value that at least `threshold` of
 * them reach. Each endpoint is asked once; a silent one takes up to `timeoutMs`. @source F-113
 */
export async function measureShapes(question: NetworkQuestion): Promise<readonly ShapeUnits[]> {
  const probes = probesOf(question)
  if (probes.length === 0) return []
  const answersTo = await askEach(
    question,
    probes.map(({ call }) => call),
  )
  return probes.flatMap(({ shape }, callIndex): ShapeUnits[] => {
    const reached = answersTo(callIndex, (result) => parseQuantity(result, 'eth_estimateGas'))
    if (reached === undefined) return []
    return [{ shape, units: reached((units) => units), countedUnits: gasUnits[shape] }]
  })
}

/** The highest amount that at least `threshold` voices reach, where `amountOf` takes it from a parsed answer. */
type ReachedValue<Value> = (amountOf: (value: Value) => bigint) => bigint
/** Parses every endpoint's answer to the call of this index by `read`; `undefined` if too few gave one. */
type Answers = <Value>(callIndex: number, read: (result: unknown) => Value) => ReachedValue<Value> | undefined

/** Asks every endpoint once. */
async function askEach(
  { client, timeoutMs, signal }: NetworkQuestion,
  calls: readonly RpcCall[],
): Promise<Answers> {
  const responses = await client.askEach(calls, {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal !== undefined && { signal }),
  })
  const { threshold } = client.electorate
  return <Value>(callIndex: number, read: (result: unknown) => Value): ReachedValue<Value> | undefined => {
    const values = valuesByVoice(
      responses.map(
        ({ answers, ...voter }): Vote<Value> => ({ ...voter, value: readAnswer(answers?.[callIndex], read) }),
      ),
    )
    return values.length < threshold ? undefined : (amountOf) => reachedBy(threshold, values.map(amountOf))
  }
}

/** Probes whose gas would rise if the network made state dearer: an allowance in a new slot, and a new account. */
function probesOf({ config, fillWallet }: NetworkQuestion): readonly Probe[] {
  // Arbitrum's estimates include the data fee, which varies with prices of the parent chain.
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

/** The parsed result; `undefined` if the node refused, as for an unknown tag or a wallet without coin. */
function readAnswer<Value>(
  answer: RpcAnswer | undefined,
  read: (result: unknown) => Value,
): Value | undefined {
  if (answer === undefined || !answer.ok || answer.result === null) return undefined
  const { result } = answer
  return unlessUnreadable(() => read(result))
}
