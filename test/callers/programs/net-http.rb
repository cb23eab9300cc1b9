require 'json'
require 'net/http'

given = JSON.parse($stdin.read)
answers = given['calls'].map do |call|
  uri = URI(given['base'] + call['path'])
  request = Net::HTTP.const_get(call['method'].capitalize).new(uri)
  request['Authorization'] = "Bearer #{given['token']}"
  if call['body']
    request['Content-Type'] = 'application/json'
    request.body = JSON.parse(call['body']).to_json
  end
  answer = Net::HTTP.start(uri.hostname, uri.port) { |http| http.request(request) }
  { status: answer.code.to_i, type: answer['content-type'], body: answer.body || '' }
end
puts answers.to_json
