// Goal: an operator reads what the networks of today want of the settings. Attacks: a price service that takes nobody
// without a key. Method: the shipped files of an environment, examined without asking anything of the network.
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { examineQuoteApi } from './examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))

async function examine(changed: Readonly<Record<string, string>>) {
  const variables = {
    ENVIRONMENT: 'mainnets.prod',
    ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
    DATABASE_URL: 'postgres://causeway@127.0.0.1:9/causeway',
    API_KEY_PEPPERS: `v1:${'9e'.repeat(32)}`,
    PUBLIC_URL: 'https://api.example',
    ADMIN_API_KEY: 'admin-5d41402abc4b2a76b9',
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    BASE_RPC_URL: 'https://rpc.example',
    ...changed,
  }
  return await examineQuoteApi(variables, { repositoryRoot, nowMs: () => Date.now(), scope: 'settings' })
}

describe('F-32: the API key of Hermes', () => {
  const url = 'https://pyth.dourolabs.app/hermes'

  test.each<[string, Readonly<Record<string, string>>, number]>([
    ['is missed where Pyth itself is asked', { HERMES_URL: url }, 1],
    ['is not missed where it is set', { HERMES_URL: url, HERMES_API_KEY: 'k' }, 0],
    [
      'is not missed at a service of another, whose URL may hold it',
      { HERMES_URL: 'https://h.example/k' },
      0,
    ],
    ['is not missed where Hermes is not asked', {}, 0],
  ])('%s', async (_name, changed, count) => {
    const found = (await examine(changed)).filter(({ setting }) => setting === 'HERMES_API_KEY')
    expect(found.map(({ code, severity }) => `${severity} ${code}`)).toEqual(
      Array(count).fill('degrades setting-missing'),
    )
  })
})
