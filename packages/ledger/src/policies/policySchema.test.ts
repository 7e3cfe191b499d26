import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parsePolicyRules, policyRulesSchema } from './policySchema.ts'

const page = join(import.meta.dirname, '../../../../docs/concepts/ledger.md')

test('the policy of the documentation can be set, and the page names every rule', async () => {
  const text = await readFile(page, 'utf8')
  const example = /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
  expect(parsePolicyRules(JSON.parse(example))).toMatchObject({
    active: true,
    maxTotal24h: 50_000_000n,
    maxPerUser: 2_000_000n,
  })
  for (const rule of Object.keys(policyRulesSchema.shape)) expect(text).toContain(`\`${rule}\``)
})
