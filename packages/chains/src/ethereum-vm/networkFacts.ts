import { randomBytes } from 'node:crypto'
import { bytesToHex, encodeApprove, type GasShape, gasUnits, type Hex } from '@causeway/core'
import type { ChainMoment, NetworkFacts, NetworkQuestion, ShapeUnits } from '../family/networkFacts.ts'
import type { RpcAnswer, RpcCall } from '../rpc/jsonRpc.ts'
import { unlessUnreadable } from '../rpc/malformedAnswer.ts'
import { parseQuantity } from '../rpc/quantity.ts'
import { reachedBy, type Vote, valuesByVoice } from '../rpc/tally.ts'
import { headRequest, parseHead } from './agreement/head.ts'

type Probe = { readonly shape: GasShape; readonly call: RpcCall }

/**
 * The newest block, the newest final one, and what a new slot and a new account cost, in one question to every
 * endpoint. As many must say it as must for anything else: one alone makes no network look other than it is, and hides
 * nothing.
 */
export async function readEthereumFacts(question: NetworkQuestion): Promise<NetworkFacts> {
  const { client, timeoutMs, signal } = question
  const probes = probesOf(question)
  const calls = [headRequest(), headRequest('finalized'), ...probes.map(({ call }) => call)]
  const heard = await client.askEach(calls, {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal !== undefined && { signal }),
  })
  const { threshold } = client.electorate
  const said = <Value>(at: number, read: (result: unknown) => Value): readonly Value[] =>
    valuesByVoice(
      heard.map(
        ({ answers, ...voter }): Vote<Value> => ({ ...voter, value: readAnswer(answers?.[at], read) }),
      ),
    )
  const moment = (at: number): ChainMoment | undefined => {
    const heads = said(at, parseHead)
    if (heads.length < threshold) return undefined
    return {
      number: reachedBy(
        threshold,
        heads.map(({ number }) => number),
      ),
      timestampSeconds: Number(
        reachedBy(
          threshold,
          heads.map(({ timestampSeconds }) => BigInt(timestampSeconds)),
        ),
      ),
    }
  }
  const shapes = probes.flatMap(({ shape }, index): ShapeUnits[] => {
    const units = said(2 + index, (result) => parseQuantity(result, 'eth_estimateGas'))
    if (units.length < threshold) return []
    return [{ shape, units: reachedBy(threshold, units), countedUnits: gasUnits[shape] }]
  })
  return { head: moment(0), final: moment(1), shapes }
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
