// Adversary: an operator's own endpoint, with its key, that reaches every visitor of a page.
import { expect, test } from 'vitest'
import { publicUrl } from './quoteChain.ts'

const endpoint = publicUrl(/^https?$/)

test.each(['https://user:secret@node.example', 'ws://node.example', 'file:///etc/passwd', 'node.example'])(
  'Q-147: %s is published to nobody',
  (url) => {
    expect(endpoint.safeParse(url).success).toBe(false)
  },
)

test.each(['', 'https://node.example/rpc'])('"%s" is a public endpoint, or none', (url) => {
  expect(endpoint.parse(url)).toBe(url)
})

test('nothing is published by default', () => {
  expect(endpoint.parse(undefined)).toBe('')
})
