// Requests of operators to the admin listener.
import { type Session, textAt } from '../support/session.ts'
import type { QuoteStage } from '../support/stage.ts'
import { poorUser } from './bodies.ts'

export async function recordAdmin({ admin, sponsor, walletless }: QuoteStage): Promise<void> {
  const get = (name: string, path: string) => admin.ask({ name, path: `/admin${path}` })
  const post = (name: string, path: string, body: object = {}) =>
    admin.ask({ name, path: `/admin${path}`, body })
  const created = await admin.ask({
    name: 'key',
    path: '/admin/keys',
    body: { label: 'shop' },
    volatile: ['id'],
  })
  const id = textAt(created, 'id')
  admin.name(id, 'key id of the shop')
  admin.name(textAt(created, 'apiKey'), 'key of the shop')
  await post('key without label', '/keys')
  await post('key with a label of two lines', '/keys', { label: 'a\nb' })
  await recordPolicies(admin, id)
  await recordWebhooks(admin, id)
  const { wallet } = sponsor
  await post('rotation', `/keys/${walletless.keyId}/rotate`, { overlapSeconds: 60 })
  await post('rotation with too long an overlap', `/keys/${id}/rotate`, { overlapSeconds: 1e9 })
  await post('rotation of no key', '/keys/aaaaaaaaaa/rotate')
  await post('rotation of what is no id', '/keys/1/rotate')
  await get('wallets', '/wallets')
  await post('unlinking of a key without wallet', `/keys/${id}/unlink-wallet`)
  await post('unlinking', `/keys/${sponsor.keyId}/unlink-wallet`)
  await post('revocation', `/keys/${id}/revoke`)
  await post('revocation once more', `/keys/${id}/revoke`)
  await post('rotation of a revoked key', `/keys/${id}/rotate`)
  await get('keys', '/keys')
  await get('whether the books add up', '/ledger/verify')
  await admin.ask({ name: 'transfers', path: '/admin/ledger/export?limit=2', volatile: ['body'] })
  await get('transfers, a limit of zero', '/ledger/export?limit=0')
  await get('balance', `/balances/${wallet.address}`)
  await get('balance of no wallet', '/balances/me')
  await admin.ask({ name: 'reconciliation', path: '/admin/ledger/reconcile', volatile: ['to'] })
  await get('reconciliation from what is no block', '/ledger/reconcile?from=x')
  await get('suspense', '/suspense')
  await post('credit of nothing', '/suspense/999/credit', { wallet: poorUser(1), reason: 'it is his' })
  await post('credit without reason', '/suspense/1/credit', { wallet: poorUser(1) })
  await recordCorrections(admin, wallet.address)
  await get('claims that wait', '/app-fee-claims/pending')
  const claim = `/app-fee-claims/0x${'58'.repeat(32)}/end`
  await post('end of no claim', claim, { ending: 'failed', reason: 'looked at it' })
  await post('end of a claim in no way', claim, { ending: 'lost', reason: 'looked at it' })
  await get('parked requests', '/requests/parked')
  const nobodys = `/requests/0x${'59'.repeat(32)}`
  await get('explanation of no request', nobodys)
  await get('explanation of no id', '/requests/1')
  await post('retry of no request', `${nobodys}/retry`, { reason: 'again' })
  await post('resolution of no request', `${nobodys}/resolve`, { resolution: 'refund', reason: 'again' })
  await post('resolution without reason', `${nobodys}/resolve`, { resolution: 'refund' })
  await get('no such route', '/nothing')
  await admin.ask({
    name: 'a host that is not loopback',
    path: '/admin/keys',
    headers: { 'x-forwarded-host': 'page.example' },
  })
}

async function recordPolicies(admin: Session, id: string): Promise<void> {
  const path = `/admin/keys/${id}/policy`
  const set = (name: string, rules: object) => admin.ask({ name, method: 'PUT', path, body: { rules } })
  await admin.ask({ name: 'policy before the first', path })
  await set('policy', { maxPerRequest: '250000' })
  await set('policy with a rule that does not exist', { maxPerReqest: '1' })
  await set('policy with a rule that is no number', { maxPerRequest: 'much' })
  await admin.ask({
    name: 'policy of no key',
    method: 'PUT',
    path: '/admin/keys/aaaaaaaaaa/policy',
    body: { rules: {} },
  })
  await admin.ask({ name: 'policy that is set', path })
  const user = poorUser(1)
  const request = { user, recipient: user, originChainId: 8_453, destinationChainId: 10 }
  const explain = { path: `${path}/explain` }
  await admin.ask({
    ...explain,
    name: 'explanation of too much',
    body: { ...request, amountMicroUsd: '250001' },
  })
  await admin.ask({ ...explain, name: 'explanation of no amount', body: request })
  await admin.ask({ name: 'removal of the policy', path: `${path}/remove`, body: {} })
  await admin.ask({
    ...explain,
    name: 'explanation without policy',
    body: { ...request, amountMicroUsd: '250001' },
  })
}

async function recordWebhooks(admin: Session, id: string): Promise<void> {
  const path = `/admin/keys/${id}/webhook`
  const url = 'https://shop.example/hook'
  const put = (name: string, body: object) => admin.ask({ name, method: 'PUT', path, body })
  await admin.ask({ name: 'webhook before the first', path })
  await put('webhook', { url, headers: { Authorization: 'Bearer hidden' } })
  await put('webhook once more', { url })
  await put('webhook with credentials', { url: 'https://a:b@shop.example/' })
  await put('webhook without URL', {})
  await put('webhook with a header of ours', { url, headers: { 'X-Signature-SHA256': 'forged' } })
  await admin.ask({ name: 'webhook that is set', path })
  await admin.ask({ name: 'new secret', path: `${path}/rotate-secret`, body: {} })
  await admin.ask({ name: 'replay', path: `${path}/replay`, body: {} })
  await admin.ask({ name: 'removal of the webhook', path: `${path}/remove`, body: {} })
  await admin.ask({ name: 'removal of no webhook', path: `${path}/remove`, body: {} })
}

/** Records routes that stop money, release it or take it back, and those that report it. */
async function recordCorrections(admin: Session, wallet: string): Promise<void> {
  const get = (name: string, path: string) => admin.ask({ name, path: `/admin${path}` })
  const post = (name: string, path: string, body: object) => admin.ask({ name, path: `/admin${path}`, body })
  const reason = 'looked at it'
  const sponsor = `/sponsors/${wallet}`
  await post('freeze without reason', `${sponsor}/freeze`, {})
  await post('freeze', `${sponsor}/freeze`, { reason })
  await post('freeze once more', `${sponsor}/freeze`, { reason })
  await post('unfreeze', `${sponsor}/unfreeze`, { reason })
  await post('resuming what was not halted', '/ledger/resume', { reason })
  await get('halted top-ups', '/top-ups/halted')
  await get('top-ups of a transaction of nobody', `/top-ups/8453/0x${'c1'.repeat(32)}`)
  await get('transaction of a top-up', `/top-ups/calldata?amountMicroUsd=25000000&wallet=${wallet}`)
  await get('transaction of a top-up of nothing', '/top-ups/calldata?amountMicroUsd=0')
  await post('reversal of no top-up', '/top-ups/999999/reverse', { reason })
  const behind = { block: '4', hash: `0x${'b4'.repeat(32)}`, reason }
  await post('resuming a chain that is not halted', '/top-ups/chains/77/resume', behind)
  await get('retention', '/retention')
  await get('statement of a month', `/statements/${wallet}?month=2026-13`)
}
