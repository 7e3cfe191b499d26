import {
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  type OwnerRequest,
  ownerRequestHash,
  withdrawalAddress,
  withdrawalInitiationKey,
} from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { protocolChain } from '../../../apps/oracle/src/attestations/context.ts'
import { paths } from '../../../apps/oracle/test/fixtures/oracleApp.ts'
import type { FamilySide, Owner } from './familySide.ts'
import { oracleOf, refused } from './settlementCases.ts'

/** Withdrawal request to a family's allocator: its owner's form, and its refusals. */
export type WithdrawalFlow = {
  readonly owner: Owner
  readonly currency: string
  readonly recipient: string
  readonly additionalData?: Readonly<Record<string, unknown>>
  /**
   * Members of the payload parameters that the family spells.
   * @source github.com/relayprotocol/relay-settlement, normalizePayloadParams
   */
  readonly payload: {
    readonly depository: string
    readonly currency: string
    readonly recipient: string
    readonly data: Hex
  }
  /** Signed by the owner, and refused. */
  readonly hostile: readonly (readonly [what: string, change: Partial<OwnerRequest>, code: string])[]
}

const amount = 1_000n
const nonce = 42n

/**
 * Both withdrawal-address routes, for an owner whose account is of the family.
 * @source rules P-80, P-83, P-121, P-127
 */
export function withdrawalFlowCases(sideOf: () => FamilySide, flowOf: () => WithdrawalFlow): void {
  describe('a withdrawal of its owner', () => {
    test('is initiated under one key, once the owner has the balance', async () => {
      const { post, hold, body, spender, holder, token } = await ownedBalance()
      expect(await post(paths.initiation, body)).toMatchObject(refused('INSUFFICIENT_HUB_BALANCE'))
      hold(spender, token, amount - 1n)
      expect(await post(paths.initiation, body)).toMatchObject(refused('INSUFFICIENT_HUB_BALANCE'))
      hold(spender, token, amount)
      const action = { hubFrom: spender, hubTo: holder, hubTokenId: token, amount }
      expect(await post(paths.initiation, body)).toMatchObject({
        status: 200,
        body: {
          withdrawalAddress: holder,
          execution: {
            idempotencyKey: withdrawalInitiationKey({
              hubId: 'relay',
              hubTokenId: token,
              withdrawalAddress: holder,
            }),
            actions: [encodeTransferAction(action)],
          },
        },
      })
    })

    test('is paid out with the parameters of its allocator, once its address holds the amount', async () => {
      const { side, flow, post, hold, body, spender, holder, token } = await ownedBalance()
      for (const held of [0n, amount - 1n]) {
        hold(holder, token, held)
        expect(await post(paths.initiated, body)).toMatchObject(refused('HUB_BALANCE_MISMATCH'))
      }
      // Whoever sends a unit to the address stops nobody.
      for (const held of [amount, amount + 1n]) {
        hold(holder, token, held)
        expect(await post(paths.initiated, body)).toMatchObject({
          status: 200,
          body: {
            payloadParams: {
              ...flow.payload,
              chainId: side.chain.hubChainId,
              amount: amount.toString(),
              spender,
              nonce: `0x${nonce.toString(16).padStart(64, '0')}`,
            },
          },
        })
      }
    })

    test('is refused unless its owner signed just that', async () => {
      const { side, post, hold, body, spender, token } = await ownedBalance()
      hold(spender, token, amount)
      const changes: readonly object[] = [
        { amount: '999' },
        { nonce: '43' },
        { recipient: side.stranger },
        { owner: side.stranger },
        { ownerSignature: '0x' },
        { ownerSignature: `0x${'00'.repeat(64)}` },
        { ownerSignature: `0x${'11'.repeat(65)}` },
        { ownerSignature: body.ownerSignature.slice(0, -2) },
        { ownerSignature: `${body.ownerSignature}00` },
      ]
      for (const path of [paths.initiation, paths.initiated]) {
        for (const change of changes) {
          const answer = await post(path, { ...body, ...change })
          expect(answer, JSON.stringify(change)).toMatchObject(refused('INVALID_OWNER_SIGNATURE'))
        }
      }
    })

    test('of nothing, or from a foreign depository, is refused', async () => {
      const { side, post, body, signed } = await ownedBalance()
      for (const path of [paths.initiation, paths.initiated]) {
        expect(await post(path, signed({ amount: '0' }))).toMatchObject(refused('ZERO_AMOUNT'))
        const foreign = { ...body, depository: side.stranger }
        expect(await post(path, foreign)).toMatchObject(refused('DEPOSITORY_NOT_CONFIGURED'))
        const named = { ...body, depository: 'nobody' }
        expect(await post(path, named)).toMatchObject(refused('INVALID_ADDRESS'))
      }
    })

    test('that its owner signed and no allocator can pay is refused', async () => {
      const { flow, post, hold, holderOf, signed } = await ownedBalance()
      for (const [what, change, code] of flow.hostile) {
        const body = signed(change)
        const held = holderOf(body)
        if (held !== undefined) hold(held.holder, held.token, amount)
        expect(await post(paths.initiated, body), what).toMatchObject(refused(code))
      }
    })
  })

  async function ownedBalance() {
    const [side, flow] = [sideOf(), flowOf()]
    const oracle = await oracleOf(side)
    const { owner, currency, recipient, additionalData } = flow
    const chain = protocolChain(side.chain)
    const unsigned: OwnerRequest = {
      chainId: side.chain.id,
      currency,
      amount: amount.toString(),
      recipient,
      ownerChainId: side.chain.id,
      owner: owner.account,
      nonce: nonce.toString(),
      ...(additionalData !== undefined && { additionalData }),
    }
    const signed = (change: Partial<OwnerRequest> = {}) => {
      const request = { ...unsigned, ...change }
      return { ...request, ownerSignature: owner.sign(ownerRequestHash(request)) }
    }
    const spender = hubAlias(chain, owner.account)
    /** Nothing for a request that names no token or account at all. */
    const holderOf = (request: Pick<OwnerRequest, 'currency' | 'recipient'>) => {
      try {
        const terms = { currency: request.currency, recipient: request.recipient, nonce, ownerAlias: spender }
        const holder = withdrawalAddress(chain, { ...terms, depository: side.chain.depository })
        return { holder, token: hubTokenId(chain, request.currency) }
      } catch {
        return undefined
      }
    }
    const held = holderOf(unsigned)
    if (held === undefined) throw new Error('the request names no token or account')
    return { side, flow, ...oracle, signed, body: signed(), spender, holderOf, ...held }
  }
}
