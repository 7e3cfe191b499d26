// Goal: an oracle beside another one is started by what the page says, with the shipped files. Attack: a page that was
// right once, or that nobody reads to its end.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { examineOwnOracle } from '../../apps/oracle/src/compose/examine.ts'
import { root } from './writeJson.ts'

const page = readFileSync(join(root, 'docs/operating/shadow.md'), 'utf8')

function variables(): Record<string, string> {
  const key = generatePrivateKey()
  const filled: Readonly<Record<string, string>> = {
    ...{ '<key>': key, '<own signer>': privateKeyToAddress(key), '<key of a peer>': 'key-of-a-peer' },
    '<folder>': join(root, '.cache'),
  }
  const [, block = ''] = /```ini\n([\s\S]*?)```/.exec(page) ?? []
  return Object.fromEntries(
    block
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', ...value] = line.split('=')
        return [
          name,
          value
            .join('=')
            .replaceAll("'", '')
            .replace(/<[^>]*>/g, (placeholder) => filled[placeholder] ?? placeholder),
        ]
      }),
  )
}

const found = (given: Readonly<Record<string, string>>) =>
  examineOwnOracle(given, { repositoryRoot: root, nowMs: () => Date.now(), scope: 'settings' })

test('O-108: an oracle starts in shadow mode by the settings of the page, and needs all of them', async () => {
  const given = variables()
  expect((await found(given)).filter(({ severity }) => severity === 'stops')).toEqual([])
  for (const name of ['RELAY_RPC_URL', 'BASE_SIGNING_CAPS', 'ECDSA_PRIVATE_KEY']) {
    const { [name]: _left, ...others } = given
    expect(
      (await found(others)).some(({ severity }) => severity === 'stops'),
      name,
    ).toBe(true)
  }
})

test('O-108: the page fits on a screen', () => {
  expect(page.split('\n').length).toBeLessThan(45)
})
