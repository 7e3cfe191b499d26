import {
  encodeBurnAction,
  encodeTransferAction,
  type Hex,
  hubTokenId,
  withdrawalAddress,
} from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { protocolChain } from '../../../apps/oracle/src/attestations/context.ts'
import { paths } from '../../../apps/oracle/test/fixtures/oracleApp.ts'
import type { FamilySide, SeenWithdrawal } from './familySide.ts'
import { issue, owner, ownerAlias } from './issued.ts'
import { oracleOf, refused } from './settlementCases.ts'

const statusNumbers = { pending: 0, executed: 1, expired: 2 }

/** The body that settles a withdrawal, from its own withdrawal address. */
export function withdrawalBody({ chain }: FamilySide, seen: SeenWithdrawal) {
  const { withdrawal, transactionId, currency, recipient, depository } = seen
  const terms = { currency, recipient, ...(depository !== undefined && { depository }) }
  return {
    chainId: chain.id,
    withdrawal,
    ...(transactionId !== undefined && { transactionId }),
    withdrawalAddressRequest: { chainId: chain.id, ...terms, ...owner },
  }
}

/** Execution that settles it on the hub; nothing while it is pending or its transaction is not proven. */
function executionOf({ chain }: FamilySide, seen: SeenWithdrawal, idempotencyKey: Hex) {
  const { currency, recipient, amount, executingTransactionId } = seen
  const named = protocolChain(chain)
  const hubFrom = withdrawalAddress(named, {
    depository: seen.depository ?? chain.depository,
    currency,
    recipient,
    ownerAlias,
    nonce: BigInt(owner.withdrawalNonce),
  })
  const moved = { hubFrom, hubTokenId: hubTokenId(named, currency), amount }
  if (seen.status === 'expired') {
    return { idempotencyKey, actions: [encodeTransferAction({ ...moved, hubTo: ownerAlias })] }
  }
  if (seen.status === 'pending' || executingTransactionId === undefined) return undefined
  return { idempotencyKey, actions: [encodeBurnAction(moved)] }
}

/**
 * The withdrawals route, in every state that the family has, with the ids of the protocol.
 * @param states each made when its test runs
 * @param isFoundByNameAlone a caller must name the executing transaction, or it is not seen
 * @source rules P-113, P-117, P-118
 */
export function withdrawalCases(
  sideOf: () => FamilySide,
  states: readonly (readonly [name: string, make: () => Promise<SeenWithdrawal>])[],
  { isFoundByNameAlone = false } = {},
): void {
  describe('a withdrawal', () => {
    test.each(states)('%s', async (_name, make) => {
      const side = sideOf()
      const { post, issue: tell } = await oracleOf(side)
      const seen = await make()
      expect(await post(paths.withdrawals, withdrawalBody(side, seen))).toMatchObject(
        refused('WITHDRAWAL_NOT_ISSUED'),
      )
      const key = issue(side, { issue: tell }, seen)
      const { status, body } = await post(paths.withdrawals, withdrawalBody(side, seen))
      expect(body).toMatchObject({
        message: { result: { withdrawalId: seen.withdrawalId, status: statusNumbers[seen.status] } },
      })
      expect(status).toBe(200)
      const execution = executionOf(side, seen, key)
      if (execution === undefined) expect(body).not.toHaveProperty('execution')
      else expect(body).toMatchObject({ execution })
    })

    test('without its withdrawal address settles nothing', async () => {
      const side = sideOf()
      const { post } = await oracleOf(side)
      const { withdrawalAddressRequest: _address, ...bare } = withdrawalBody(side, await side.withdraw())
      const { status, body } = await post(paths.withdrawals, bare)
      expect({ status, body }).toMatchObject({ status: 200, body: { message: { result: { status: 1 } } } })
      expect(body).not.toHaveProperty('execution')
    })

    test('does not settle another withdrawal address than its own', async () => {
      const side = sideOf()
      const { post } = await oracleOf(side)
      const body = withdrawalBody(side, await side.withdraw())
      const mismatches: readonly object[] = [{ chainId: 'ethereum' }, { recipient: side.stranger }]
      for (const change of mismatches) {
        const withdrawalAddressRequest = { ...body.withdrawalAddressRequest, ...change }
        expect(await post(paths.withdrawals, { ...body, withdrawalAddressRequest })).toMatchObject(
          refused('WITHDRAWAL_REQUEST_MISMATCH'),
        )
      }
      const foreign = { ...body.withdrawalAddressRequest, depository: side.stranger }
      expect(await post(paths.withdrawals, { ...body, withdrawalAddressRequest: foreign })).toMatchObject(
        refused('DEPOSITORY_NOT_CONFIGURED'),
      )
    })

    test('is not burnt under the transaction of another one', async () => {
      const side = sideOf()
      const { post, issue: tell } = await oracleOf(side)
      const [seen, another] = [await side.withdraw(), await side.withdraw()]
      issue(side, { issue: tell }, seen)
      const [body, { transactionId }] = [withdrawalBody(side, seen), another]
      const answer = await post(paths.withdrawals, { ...body, transactionId })
      expect(answer.body).not.toHaveProperty('execution')
      expect(answer).toMatchObject(
        isFoundByNameAlone
          ? { status: 200, body: { message: { result: { status: 0 } } } }
          : refused('TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL'),
      )
    })

    test('with changed bytes is another one that is not burnt, or burnt under the one key', async () => {
      const side = sideOf()
      const { post, issue: tell } = await oracleOf(side)
      const seen = await side.withdraw()
      const key = issue(side, { issue: tell }, seen)
      const { transactionId: _named, ...body } = withdrawalBody(side, seen)
      const bytes = Buffer.from(body.withdrawal.slice(2), 'hex')
      for (let change = 0; change < 60; change += 1) {
        const changed = Buffer.from(bytes)
        const at = (change * 2_654_435_761) % bytes.length
        changed[at] = (Number(bytes[at]) + 1 + 83 * change) % 256
        if (changed.equals(bytes)) continue
        const withdrawal = `0x${changed.toString('hex')}`
        const answer = await post(paths.withdrawals, { ...body, withdrawal })
        expect([200, 400], `byte ${at}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
        const { execution, message } = Object(answer.body)
        if (execution === undefined) continue
        // Bytes that move the same money, such as a PSBT with other signatures.
        expect(message.result.status, `byte ${at}`).toBe(1)
        expect(execution.idempotencyKey, `byte ${at}`).toBe(key)
      }
    })

    test('whose bytes or transaction id are none is refused by its own code', async () => {
      const side = sideOf()
      const { post } = await oracleOf(side)
      const body = withdrawalBody(side, await side.withdraw())
      const cut = body.withdrawal.slice(0, -2)
      for (const withdrawal of ['0x', '0xff', cut, `0x${'ff'.repeat(1_000)}`]) {
        expect(await post(paths.withdrawals, { ...body, withdrawal }), withdrawal).toMatchObject(
          refused('INVALID_WITHDRAWAL'),
        )
      }
      expect(await post(paths.withdrawals, { ...body, transactionId: 'none' })).toMatchObject(
        refused('INVALID_TRANSACTION_ID'),
      )
    })
  })
}
