import { verifyAttestation } from '@causeway/attestations'
import type { FactsReader, Hex, NetworkOf } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, onTestFinished } from 'vitest'
import type { AttestationContext, AttestedChain } from '../../../apps/oracle/src/attestations/context.ts'
import {
  type AttestationDefinition,
  depositsDefinition,
  fillsDefinition,
  type RequestSwitches,
  refundsDefinition,
  withdrawalInitiatedDefinition,
  withdrawalInitiationDefinition,
  withdrawalsDefinition,
} from '../../../apps/oracle/src/service/definitions.ts'
import { testApp, testKey } from '../../../apps/oracle/test/fixtures/oracleApp.ts'
import { evidence, chains as otherChains, world } from '../../../apps/oracle/test/fixtures/world.ts'
import { oracleKey } from '../../../packages/core/test/vectors/messages.ts'

export type Answer = { readonly status: number; readonly body: unknown }

/** The HTTP surface of one oracle, and what its hub holds. */
export type FamilyOracle = {
  readonly networkOf: NetworkOf
  /** POST. What is signed is checked before it is returned: every signature, and that it answers the request. */
  post(path: string, payload: object, options?: { readonly withKey?: boolean }): Promise<Answer>
  /** Sets the payload that the allocator returns for an id. */
  issue(payloadId: Hex, payload: Hex): void
  /** Sets a balance on the hub. */
  hold(account: Hex, hubTokenId: bigint, amount: bigint): void
}

/**
 * An oracle that reads one chain with `read`, asked anew for each question; other chains are known and not
 * read. Nothing is kept, so that every request reaches the chain. Closed when the test ends.
 */
export async function openOracle(chain: AttestedChain, read: () => FactsReader): Promise<FamilyOracle> {
  const chains = new Map([...otherChains, [chain.id, chain]])
  const balances = new Map<string, bigint>()
  const issued = new Map<string, Hex>()
  const scripted = world({})
  const context: AttestationContext = {
    ...scripted,
    chains,
    networkOf: (id) => chains.get(id),
    readerOf: (id) => (id === chain.id ? read() : scripted.readerOf(id)),
    allocator: {
      keys: 'own',
      async readIssued({ payloadId }) {
        return { payload: issued.get(payloadId), evidence: evidence('relay-allocator') }
      },
    },
    hubBalances: {
      async balanceOf(account, hubTokenId) {
        return balances.get(`${account} ${hubTokenId}`) ?? 0n
      },
      async finalBalanceOf(account, hubTokenId) {
        return { balance: balances.get(`${account} ${hubTokenId}`) ?? 0n, waitSeconds: 1 }
      },
    },
  }
  const { app } = await testApp({ context, keptMax: 0, deadlineMs: 60_000 })
  onTestFinished(() => app.close())
  return {
    networkOf: context.networkOf,
    issue: (payloadId, payload) => void issued.set(payloadId, payload),
    hold: (account, hubTokenId, amount) => void balances.set(`${account} ${hubTokenId}`, amount),
    async post(path, payload, { withKey = false } = {}) {
      const headers = withKey ? { 'x-api-key': testKey } : {}
      const response = await app.inject({ method: 'POST', url: path, payload, headers })
      const [status, body] = [response.statusCode, response.json()]
      if (status === 200) checks.get(path)?.(payload, body, context)
      return { status, body }
    },
  }
}

type Check = (payload: object, body: unknown, context: AttestationContext) => void

const checks: ReadonlyMap<string, Check> = new Map([
  checkOf(depositsDefinition),
  checkOf(withdrawalsDefinition),
  checkOf(fillsDefinition),
  checkOf(refundsDefinition),
  checkOf(withdrawalInitiationDefinition),
  checkOf(withdrawalInitiatedDefinition),
])

/** By the path of the route. */
function checkOf<Request extends RequestSwitches, Response>({
  kind,
  requestSchema,
}: AttestationDefinition<Request, Response>): readonly [string, Check] {
  const signers = [privateKeyToAddress(oracleKey)]
  return [
    kind.path,
    (payload, body, { hub, networkOf }) => {
      const terms = { kind, signers, threshold: 1, hub, networkOf, recover: recoverSigner }
      const { isQuorum, problems } = verifyAttestation(body, terms)
      // A transaction without deposits has an answer without anything to sign.
      if (!isQuorum) expect(problems).toEqual([{ reason: 'nothing_to_sign' }])
      const answer = kind.normalise(kind.responseSchema.parse(body), networkOf)
      expect(kind.isAbout(answer, requestSchema.parse(payload), networkOf)).toBe(true)
    },
  ]
}
