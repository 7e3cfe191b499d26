import { type AttestationKind, attestationKinds, verifyAttestation } from '@causeway/attestations'
import { recoverSigner } from '@causeway/signer'
import { privateKeyToAddress } from 'viem/accounts'
import { expect } from 'vitest'
import { paths } from '../../../apps/oracle/test/fixtures/oracleApp.ts'
import { oracleKey } from '../../../packages/core/test/vectors/messages.ts'
import type { BedOracle } from './bedOracle.ts'
import { bpsDiffOf, type DepositedOrder, executionOf } from './bedOrders.ts'

/** All of the answer is signed by the oracle's key, over hashes that are computed from the answer. */
export function expectSigned<Response>(
  { hub, networkOf }: BedOracle,
  kind: AttestationKind<Response>,
  body: unknown,
): void {
  const signers = [privateKeyToAddress(oracleKey)]
  const terms = { hub, networkOf, kind, signers, threshold: 1, recover: recoverSigner }
  expect(verifyAttestation(body, terms)).toMatchObject({ isQuorum: true, problems: [] })
}

/** A fill is attested as the protocol says. */
export async function expectFilled(
  oracle: BedOracle,
  ordered: DepositedOrder,
  transactionId: string,
): Promise<void> {
  const { id, settlement } = ordered
  const { status, body } = await oracle.post(paths.fills, { ...settlement, fill: { transactionId } })
  expect(body).toMatchObject({
    message: {
      data: { ...settlement, fill: { transactionId } },
      result: { orderId: id, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiffOf(ordered).toString() },
    },
    execution: executionOf(ordered, oracle.networkOf, { paysFees: true }),
  })
  expect(status).toBe(200)
  expectSigned(oracle, attestationKinds.fills, body)
}

/** Refunds are attested as the protocol says. */
export async function expectRefunded(
  oracle: BedOracle,
  ordered: DepositedOrder,
  refunds: readonly {
    readonly transactionId: string
    readonly inputIndex: number
    readonly refundIndex: number
  }[],
): Promise<void> {
  const { id, settlement } = ordered
  const { status, body } = await oracle.post(paths.refunds, { ...settlement, refunds })
  expect(body).toMatchObject({
    message: {
      data: { ...settlement, refunds },
      result: { orderId: id, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiffOf(ordered).toString() },
    },
    execution: executionOf(ordered, oracle.networkOf, { paysFees: false }),
  })
  expect(status).toBe(200)
  expectSigned(oracle, attestationKinds.refunds, body)
}
