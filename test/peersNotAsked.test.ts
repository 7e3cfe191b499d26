// Goal: what peers are costs and endangers nobody who does not ask for them. Method: `main.ts` with a peer
// configured, and every function of it counted while one request is answered.
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpPeer, startHttpPeer } from '../apps/oracle/test/peerSupport/httpPeer.ts'
import { callerKey, oracleVariables } from '../apps/oracle/test/support/oracleProcess.ts'
import { deposit, native, noOrder } from '../apps/oracle/test/support/protocolActors.ts'
import { type MeasuredService, startMeasured } from './support/measuredService.ts'

let network: TestNetwork
let peer: HttpPeer
let oracle: MeasuredService

beforeAll(async () => {
  network = await startTestNetwork()
  peer = await startHttpPeer(() => ({ status: 503, body: {} }))
  oracle = await startMeasured('apps/oracle/src/main.ts', {
    ...oracleVariables(network),
    PEERS: `${peer.url}|the-key-of-the-peer`,
  })
})
afterAll(async () => {
  await oracle?.stop()
  await peer?.stop()
  await network?.stop()
})

async function deposited(): Promise<string> {
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  const amount = parseEther('0.1')
  const transactionId = await deposit(network, 'base', user, { currency: native, amount, id: noOrder })
  await network.chains.base.chain.node.mine({ blocks: 3 })
  return transactionId
}

/** Functions of the folder of peers that ran for one request. */
async function ranOfPeers(body: object): Promise<readonly string[]> {
  await oracle.ranSince()
  const answer = await fetch(`${oracle.publicUrl}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify({ chainId: 'base', ...body }),
  })
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ messages: [expect.anything()] }),
  ])
  const ran = await oracle.ranSince()
  return ran.filter(({ url }) => url.includes('/apps/oracle/src/peers/')).map(({ name }) => name)
}

test('scenario 2: PEERS, but no peers requested: no peer is called, and none of their code runs', async () => {
  const transactionId = await deposited()
  expect(await ranOfPeers({ transactionId })).toEqual([])
  expect(await ranOfPeers({ transactionId, requestPeerSignatures: false })).toEqual([])
  expect(peer.questions).toEqual([])
  expect(await ranOfPeers({ transactionId, requestPeerSignatures: true })).not.toEqual([])
  expect(peer.questions).toHaveLength(1)
})
