import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configJsonSchemas } from './jsonSchemas.ts'
import { root } from './writeJson.ts'

const folder = join(root, 'configs', 'schema')

describe('JSON Schemas of the configuration files', () => {
  test('the committed schemas are the ones that the code gives; run scripts/writeConfigSchemas.ts', () => {
    const committed = Object.fromEntries(
      readdirSync(folder).map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8'))]),
    )
    expect(committed).toEqual(JSON.parse(JSON.stringify(configJsonSchemas())))
  })

  test('a placeholder may stand where a string has a pattern', () => {
    const text = JSON.stringify(configJsonSchemas()['hub.schema.json'])
    const { properties } = JSON.parse(text)
    const pattern = new RegExp(properties.oracleAddress.pattern)
    expect(pattern.test('$ORACLE_ADDRESS')).toBe(true)
    expect(pattern.test(`0x${'ab'.repeat(20)}`)).toBe(true)
    expect(pattern.test('oracle')).toBe(false)
  })
})
