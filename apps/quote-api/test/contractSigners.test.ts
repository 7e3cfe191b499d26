// Goal: an error of a node is never taken for the "no" of a contract wallet, whoever asks for its signature. Method: each way
// in which the service asks one, over a node that fails as nodes do, and over code that fails.
import { randomBytes } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { finalizeTopUp, recordTopUp } from '@causeway/ledger'
import { startFaultProxy } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { callNode, walletCode } from '../../../packages/localnet/test/fixtures/contractWallets.ts'
import { type ContractSignatures, createContractSignatures } from '../src/access/wallets/contractSignature.ts'
import { createSponsorSessions } from '../src/access/wallets/sponsorSessions.ts'
import { createWalletLinking } from '../src/access/wallets/walletLinking.ts'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { createTopUpClaims } from '../src/money/topUps/claims.ts'
import { createTakePermit } from '../src/requests/permits/takePermit.ts'
import { postPatiently, readOk } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

let bed: SettlementBed
let oracles: StandInOracles
let sponsor: TestSponsor

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
}, 240_000)
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})

const noTail = { kind: 'suspense', parse: 'no_tail' } as const

/** Each asks a contract wallet, on a chain whose nodes say so much as `contracts` does. */
const askers: readonly (readonly [
  string,
  (contracts: ContractSignatures) => Promise<() => Promise<unknown>>,
])[] = [
  [
    'permit',
    async (contracts) => {
      const more = { usePermit: true, user: sponsor.wallet }
      const body = localRequest(bed.network, { amount: 100_000_000n, more })
      const { requestId } = readOk(await postPatiently(`${bed.url}/quote`, body), quoteResponseSchema)
      const take = createTakePermit({
        kind: 'eip3009',
        database: bed.database,
        contractsOf: () => contracts,
        now: Date.now,
        hasCode: async () => true,
        trial: async () => 'passes',
        screening: undefined,
        stops: { refuseRequest: async () => {} },
      })
      // CAST: the wire describes a request id as text.
      return () => take({ requestId: requestId as Hex, signature: '0x1234' })
    },
  ],
  [
    'link of a wallet',
    async (contracts) => {
      const linking = createWalletLinking({ ...signing(contracts), onLinked: () => {} })
      const asked = { apiKeyId: sponsor.keyId, wallet: sponsor.wallet }
      const { nonce } = await linking.challenge(asked)
      return () => linking.link({ ...asked, nonce, signature: '0x1234' })
    },
  ],
  [
    'sign-in',
    async (contracts) => {
      const sessions = createSponsorSessions({
        ...signing(contracts),
        secret: new Uint8Array(32),
        now: Date.now,
      })
      const { wallet } = sponsor
      const { nonce } = sessions.challenge(wallet)
      return () => sessions.open({ wallet, nonce, signature: '0x1234' })
    },
  ],
  [
    'claim of a top-up',
    async (contracts) => {
      const { wallet } = sponsor
      const [transactionHash, custody] = [generatePrivateKey(), `0x${'c5'.repeat(20)}`] as const
      const topUp = {
        chainId: 8_453,
        transactionHash,
        blockNumber: 1n,
        blockHash: transactionHash,
        token: custody,
        custody,
        tail: undefined,
        verdict: noTail,
        log: { ordinal: 0, logIndex: 0, from: wallet, value: 1_000_000n },
      } as const
      await bed.database.transaction(async (tx) => {
        const { eventId = 0n } = await recordTopUp(tx, topUp, { replace: false })
        await finalizeTopUp(tx, eventId, {})
      })
      const claims = createTopUpClaims({ ...signing(contracts), now: Date.now })
      const transfer = { transactionHash, ordinal: 0, wallet }
      const { message } = await claims.prepare(transfer)
      return () => claims.settle(transfer, { message, signature: '0x1234' })
    },
  ],
]
const signing = (contracts: ContractSignatures) => ({
  database: bed.database,
  contracts,
  randomBytes,
  site: { domain: 'quotes.example', uri: 'https://quotes.example', chainId: 8_453 },
})

test.each(askers)('Q-67: an error of nodes is no "no" of the wallet to a %s', async (_what, prepare) => {
  const proxy = await startFaultProxy({ targetUrl: bed.network.chains.base.url })
  const endpoints = [{ url: proxy.url }]
  const client = createJsonRpcClient({ chainId: 'base', endpoints })
  onTestFinished(async () => {
    await client.close()
    await proxy.stop()
  })
  await callNode(bed.network.chains.base.url, 'anvil_setCode', [sponsor.wallet, walletCode['says no']])
  const hand = await prepare(createContractSignatures(client))
  proxy.set({ kind: 'unsupported', methods: ['eth_call'], code: -32_000, message: 'missing trie node' })
  await expect(hand()).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  proxy.set({ kind: 'unsupported', methods: ['eth_call'], code: 3, message: 'execution reverted' })
  const again = await prepare(createContractSignatures(client))
  await expect(again()).rejects.toMatchObject({
    code: expect.stringMatching(/^(INVALID_SIGNATURE|PERMIT_FAILED)$/),
  })
})
